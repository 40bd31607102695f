import { expect, test } from 'vitest'
import { pieces, rowHeight, scrolled } from './rows'

/** How many rows the pieces stand for, and which of them exist. */
const read = (list: ReturnType<typeof pieces>) => ({
  all: list.reduce((n, p) => n + (p.gap ?? 1), 0),
  rows: list.filter((p) => !p.gap).map((p) => p.index),
})

test.each([
  [0, 0, -1],
  [1, 0, 0],
  [10_000, 0, -1],
  [10_000, 160_000, -1],
  [10_000, 160_000, 3],
  [10_000, 160_000, 9_999],
  [10_000, 160_000, 5_000],
  [10_000, 320_000, 0],
  [10_000, 99_999_999, -1], // a filter made the table shorter than it is scrolled
  [30, 0, 40],
])('%i rows scrolled to %i with row %i kept are all there once', (count, top, keep) => {
  const list = pieces(count, top, 320, keep)
  const { all, rows } = read(list)
  expect(all).toBe(count)
  expect(rows.length).toBeLessThan(60)
  expect(new Set(rows).size).toBe(rows.length)
  expect(rows).toEqual([...rows].sort((a, b) => a - b))
  if (keep >= 0 && keep < count) expect(rows).toContain(keep)
  const first = Math.floor(top / rowHeight)
  if (first < count) expect(rows).toContain(first)
})

test.each([
  [0, 500, 320, 0],
  [5, 0, 320, 0], // seen already
  [20, 0, 320, 20 * 32 + 32 + 26 - 320],
  [3, 640, 320, 96],
])('row %i of a table scrolled to %i', (index, top, height, want) => {
  expect(scrolled(index, top, height)).toBe(want)
})
