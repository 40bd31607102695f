// Which rows of a long table exist on the page.

/** The height of every row, in points (--h-row of the design). */
export const rowHeight = 32

/** Rows that exist beyond what is seen, on each side. */
const beyond = 8

/** What is taken for the height where nothing is laid out. */
const unknownHeight = 640

/** A row, or a gap in the place of so many rows from index on. */
export interface Piece {
  index: number
  gap?: number
}

/**
 * The pieces of a table of count rows that is scrolled to top. The row keep
 * always exists, so that the focus on it is not lost; -1 for none.
 */
export function pieces(count: number, top: number, height: number, keep = -1): Piece[] {
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - beyond, count))
  const end = Math.min(count, Math.ceil((top + (height || unknownHeight)) / rowHeight) + beyond)
  const list: Piece[] = []
  let at = 0
  const row = (index: number) => {
    if (index > at) list.push({ index: at, gap: index - at })
    list.push({ index })
    at = index + 1
  }
  if (keep >= 0 && keep < first) row(keep)
  for (let i = first; i < end; i++) row(i)
  if (keep >= at && keep < count) row(keep)
  if (at < count) list.push({ index: at, gap: count - at })
  return list
}

/** The head of the table stays above the rows. */
const head = 26

/** Where a table is to be scrolled so that a row is seen whole. */
export function scrolled(index: number, top: number, height: number): number {
  const above = index * rowHeight
  const below = above + rowHeight + head - height
  return Math.max(0, Math.min(above, Math.max(below, top)))
}
