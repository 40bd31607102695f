// How text from outside is taken apart for showing. Nothing is left out: the
// parts, put together again, are the text.
import type { Part, Piece, Run } from './types'

/** Pieces of one line that belong to one segment, or to none (-1). */
export interface Group {
  segment: number
  verdict?: string
  pieces: Piece[]
}

export function groups(line: Piece[]): Group[] {
  const list: Group[] = []
  for (const piece of line) {
    const last = list.at(-1)
    if (last?.segment === piece.segment) last.pieces.push(piece)
    else list.push({ segment: piece.segment, verdict: piece.verdict, pieces: [piece] })
  }
  return list
}

export const textOf = (pieces: Piece[]): string => pieces.flatMap((p) => p.parts.map((part) => part.text)).join('')

/** What stands in the place of characters that cannot be seen, such as "U+202E". */
export const hiddenIn = (lines: Piece[][]): string[] =>
  lines.flatMap((line) => line.flatMap((p) => p.parts.filter((part) => part.kind === 'escaped' && part.text !== 'TAB').map((part) => part.text)))

/** Where a line may be broken within a long word: after each slash. */
export const breaks = (text: string): string[] => text.match(/[^/]*\/|[^/]+/g) ?? []

// All that Unicode lets run from right to left, now or later: the blocks whose
// characters do so even before they are assigned (DerivedBidiClass.txt).
const rtl = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]\p{M}*/u
const runsOfRTL = new RegExp(`((?:${rtl.source})+)`, 'u')

/** Letters that run from right to left apart from the others. */
export function parts(text: string): Part[] {
  if (!rtl.test(text)) return [{ text }]
  return text
    .split(runsOfRTL)
    .map((t, i) => (i % 2 ? { text: t, kind: 'rtl' } : { text: t }))
    .filter((p) => p.text !== '')
}

/** A path in two: what may be cut where there is no room, and the end that stays. */
export function middle(path: string): [string, string] {
  const last = path.lastIndexOf('/')
  const before = path.lastIndexOf('/', last - 1)
  const at = path.length - before <= 32 ? before : path.length - last <= 32 ? last : path.length - 28
  return at > 0 ? [path.slice(0, at), path.slice(at)] : ['', path]
}

/** A name beside other words, cut in the middle where it would push them away. It is whole elsewhere. */
export function cut(name: string): string {
  const letters = Array.from(name)
  return letters.length > 60 ? [...letters.slice(0, 30), '…', ...letters.slice(-29)].join('') : name
}

export const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1) || path

/** The segment of the text that a row belongs to: what a wrapper starts belongs to the wrapper's. */
export function anchor(runs: Run[], segment: number): number {
  let top = -1
  for (const run of runs) {
    if (!run.depth) top = run.segment
    if (run.segment === segment) return top
  }
  return segment
}
