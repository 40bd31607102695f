// How a program that would run is named and what is said of it.
import { baseOf } from './pieces'
import { panel } from './text'
import type { Run } from './types'

/** Why it passes, asks or is denied, in a few words. */
export function whyOf(run: Run): string {
  if (run.verdict === 'deny' && run.entry) return panel.denylist(run.entry)
  if (run.verdict !== 'pass') return panel.because(run.reason ?? '', run.sentence ?? '', run.verdict === 'danger')
  const entry = run.entry ?? ''
  return panel.by[run.by ?? '']?.(entry === run.path || entry === run.real ? baseOf(entry) : entry) ?? entry
}

/** Where the word leads, as far as that is known. */
export function pathOf(run: Run): string {
  return run.path || (run.by === 'builtin' ? panel.noProgram : panel.notKnown)
}

/** The name of a segment for those who hear it: its text, its verdict, why, and its path. */
export function nameOf(run: Run, text: string): string {
  const word = text.length > 120 ? run.word : text
  return [word, panel.verdict[run.verdict], whyOf(run), pathOf(run)].filter(Boolean).join(', ')
}
