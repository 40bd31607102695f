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

// The scripts are those of app/shown/command.go.
const rtl =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}]\p{M}*/u
const runsOfRTL = new RegExp(`((?:${rtl.source})+)`, 'u')

/** Letters that run from right to left apart from the others, as the host does for commands. */
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
