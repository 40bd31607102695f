// The rows of the tables: filtered, sorted, those of every agent last.
import type { DenyRow, EntryRow } from './types'

export interface Sort {
  by: 'program' | 'used' | 'ends'
  order: 'ascending' | 'descending'
}

const names = new Intl.Collator('en')

const holds = (filter: string, ...texts: (string | undefined)[]) => {
  const sought = filter.trim().toLowerCase()
  return !sought || texts.some((t) => t?.toLowerCase().includes(sought))
}

/** When an entry ends, those that never do last. */
const end = (e: EntryRow) => e.ends || (e.usesLeft >= 0 ? Number.MAX_SAFE_INTEGER - 1 : Number.MAX_SAFE_INTEGER)

/** The entries of a table, in order. */
export function entries(list: EntryRow[], filter: string, sort: Sort): EntryRow[] {
  const sign = sort.order === 'ascending' ? 1 : -1
  return list
    .filter((e) => holds(filter, e.pattern, e.args.join(' '), e.argPattern, e.cwd, e.session, e.note, e.lastCommand, e.lastPath))
    .sort((a, b) => {
      const here = Number(b.from === 'here') - Number(a.from === 'here')
      if (here) return here
      if (sort.by === 'program') return sign * names.compare(a.pattern, b.pattern)
      return sign * (sort.by === 'used' ? (a.lastUsed ?? 0) - (b.lastUsed ?? 0) : end(a) - end(b))
    })
}

/** The rules of a table. Their order is that of the file. */
export function rules(list: DenyRow[], filter: string): DenyRow[] {
  return list
    .filter((r) => holds(filter, r.pattern, r.args.join(' '), r.reason))
    .sort((a, b) => Number(b.from === 'here') - Number(a.from === 'here'))
}
