// Questions for tests, made from a fixture that the host wrote.
import panel from '../fixtures/panel.json'
import { fake, type Fake, type Fixture } from './backend.fake'
import type { Entry, Question, Width } from './types'

const fixture = panel as unknown as Fixture

export const entry: Entry = { pattern: '/usr/bin/lint', args: [], argsExact: false, usesLeft: -1 }

/** Three ways to remember a yes to "lint --fix src". */
export const widths: Width[] = [
  { width: 'exact', names: ['lint'], entries: [{ ...entry, args: ['--fix', 'src'], argsExact: true, cwd: '~/p' }] },
  { width: 'words', names: ['lint --fix'], entries: [{ ...entry, args: ['--fix'] }], folder: '~/p' },
  { width: 'program', names: ['lint'], entries: [entry], folder: '~/p', wide: 'unknown' },
]

/** A live question that may be answered in every way, with what a yes writes by itself. */
export function question(id: string, over: Partial<Question> = {}): Question {
  const q = structuredClone(fixture.screen.waiting[0]!)
  return { ...q, id, seen: `${id}:1`, risky: false, allowOnce: true, always: [entry], notAlways: undefined, widths: [], ...over }
}

export const ended = (id: string, reason = 'approval-cancelled'): Question => question(id, { ended: { reason, at: 1 } })

/** A host with these questions and nothing else. */
export function host(...waiting: Question[]): Fake {
  return fake({ ...fixture, screen: { ...fixture.screen, settings: false, waiting } })
}

/** Gives a host other questions and tells the page. */
export function replace(backend: Fake, ...waiting: Question[]) {
  backend.fixture.screen = { ...backend.fixture.screen, waiting }
  backend.tell('screen')
}

/** The calls of one name. */
export const calls = (backend: Fake, name: string) => backend.calls.filter((c) => c[0] === name).map((c) => c.slice(1))
