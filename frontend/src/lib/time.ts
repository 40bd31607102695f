// Times as people read them.

/** "1:42", from milliseconds; what has begun counts as a second. */
export function minutes(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** "14:02:41", from unix milliseconds. */
export function clock(ms: number): string {
  const t = new Date(ms)
  return [t.getHours(), t.getMinutes(), t.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')
}

const marks = [60, 20, 5]

/** The mark of 60, 20 or 5 seconds that lies between two looks at the clock, 0 for none. */
export function passed(before: number, now: number): number {
  return marks.findLast((m) => before > m * 1000 && now <= m * 1000 && now > 0) ?? 0
}
