import { afterEach, expect, test, vi } from 'vitest'
import agents from '../fixtures/agents.json'
import held from '../fixtures/agents-held.json'
import { fake, type Fake, type Fixture } from '../lib/backend.fake'
import type { EntryRow, Preview, Saved } from '../lib/types'
import { DenyForm, EntryForm } from './forms.svelte'
import { SettingsState } from './settings.svelte'

const stops: (() => void)[] = []
afterEach(() => {
  stops.splice(0).forEach((stop) => stop())
  vi.restoreAllMocks()
})

/** The clock by which an answer is too early, so much later. */
const later = (ms: number) => {
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + ms)
}

async function open(fixture: unknown = agents, agentId = 'claude-code') {
  const backend = fake(fixture as unknown as Fixture)
  const state = new SettingsState(backend)
  stops.push(state.start())
  await vi.waitFor(() => expect(state.preferences).toBeDefined())
  if (state.policy?.agent.id !== agentId) await state.choose(agentId)
  return { backend, state }
}

const policyOf = (backend: Fake, id = 'claude-code') => backend.fixture.policies[id]!
const row = (state: SettingsState, id = 'a1') => state.policy!.allowlist.find((e) => e.id === id)!
/** Another revision of what the host holds, as somebody else's edit makes one. */
function elsewhere(backend: Fake, change: (list: EntryRow[]) => EntryRow[] = (l) => l) {
  const was = policyOf(backend)
  backend.fixture.policies['claude-code'] = { ...was, rev: 'rev-2', allowlist: change(structuredClone(was.allowlist)) }
}

test('each edit goes with the revision that is shown, and what it answers is shown', async () => {
  const { backend, state } = await open()
  const { rev } = policyOf(backend)
  backend.saved = { policy: { ...policyOf(backend), rev: 'rev-2' } }
  await state.setMode('allow-all')
  expect(state.policy?.rev).toBe('rev-2')
  await state.setWord('ask', '')
  await state.switchEntry(row(state), false)
  await state.removeEntry(row(state))
  await state.removeDeny(state.policy!.denylist[0]!)
  expect(backend.calls.map((c) => c.slice(0, 5))).toEqual([
    ['setMode', 'claude-code', rev, 'allow-all'],
    ['setWord', 'claude-code', 'rev-2', 'ask', ''],
    ['switchEntry', 'claude-code', 'rev-2', 'a1', false],
    ['removeEntry', 'claude-code', 'rev-2', 'a1'],
    ['removeDeny', 'claude-code', 'rev-2', { pattern: 'ssh', args: [], reason: 'not from here' }],
  ])
})

test('of two quick edits the second goes with what the first one left', async () => {
  const { backend, state } = await open()
  const { rev } = policyOf(backend)
  const entry = row(state)
  backend.saved = { policy: { ...policyOf(backend), rev: 'rev-2' } }
  await Promise.all([state.switchEntry(entry, false), state.setMode('deny')])
  expect(backend.calls.map((c) => c[2])).toEqual([rev, 'rev-2'])
})

test('an edit that waits its turn never takes the revision of another agent', async () => {
  const { backend, state } = await open()
  const { rev } = policyOf(backend)
  const edit = state.setMode('deny')
  const other = state.choose('codex')
  await Promise.all([edit, other])
  expect(backend.calls).toEqual([['setMode', 'claude-code', rev, 'deny']])
  expect(state.policy?.agent.id).toBe('codex')
})

test('an agent that waits is shown first, or else every agent', async () => {
  const { state } = await open(agents, '*')
  expect(state.policy?.every).toBe(true)
  const waiting = structuredClone(agents)
  waiting.agents[2]!.waiting = 1
  const other = fake(waiting as unknown as Fixture)
  const second = new SettingsState(other)
  stops.push(second.start())
  await vi.waitFor(() => expect(second.policy?.agent.id).toBe('codex'))
})

test('a late answer for one agent is not shown under another', async () => {
  const { backend, state } = await open()
  const slow = backend.policy
  let free = () => {}
  backend.policy = (id) => (id === 'codex' ? new Promise((go) => (free = () => go(slow(id)))) : slow(id))
  const first = state.choose('codex')
  await state.choose('scratch')
  free()
  await first
  expect(state.policy?.agent.id).toBe('scratch')
})

test('a conflict is said, shows what holds now, and keeps what was typed', async () => {
  const { backend, state } = await open()
  const { rev } = policyOf(backend)
  state.change(row(state))
  const form = state.form as EntryForm
  form.pattern = '/typed'
  elsewhere(backend, (list) => list.map((e) => (e.id === 'a1' ? { ...e, exact: { ...e.exact, pattern: '/theirs' } } : e)))
  backend.tell('policy')
  await vi.waitFor(() => expect(state.policy?.rev).toBe('rev-2'))

  backend.saved = { ok: false, conflict: true, policy: policyOf(backend) }
  await state.saveForm()
  expect(backend.calls.at(-1)?.slice(0, 4)).toEqual(['changeEntry', 'claude-code', rev, 'a1'])
  expect(state.note).toEqual({ kind: 'conflict' })
  expect(state.form).toBe(form)
  expect(form.pattern).toBe('/typed')
  expect(form.problem).not.toBe('')

  backend.saved = { policy: policyOf(backend) }
  await state.saveForm()
  expect(backend.calls.at(-1)?.slice(0, 4)).toEqual(['changeEntry', 'claude-code', 'rev-2', 'a1'])
  expect(state.form).toBeUndefined()
})

test('a form survives an edit of something else, and is saved over nothing', async () => {
  const { backend, state } = await open()
  state.change(row(state))
  const form = state.form as EntryForm
  form.note = 'typed'
  elsewhere(backend, (list) => list.slice(0, 3))
  backend.tell('policy')
  await vi.waitFor(() => expect(state.policy?.rev).toBe('rev-2'))
  expect(state.form).toBe(form)
  expect(form.note).toBe('typed')
  await state.saveForm()
  expect(backend.calls.at(-1)).toEqual(['changeEntry', 'claude-code', 'rev-2', 'a1', expect.objectContaining({ note: 'typed' })])
})

test('an entry that was removed while it was edited is added anew only after it was said', async () => {
  const { backend, state } = await open()
  state.change(row(state))
  elsewhere(backend, (list) => list.filter((e) => e.id !== 'a1'))
  backend.saved = { ok: false, conflict: true, policy: policyOf(backend) }
  await state.saveForm()
  expect(backend.calls.at(-1)?.[0]).toBe('changeEntry')
  backend.saved = { policy: policyOf(backend) }
  await state.saveForm()
  expect(backend.calls.at(-1)?.slice(0, 3)).toEqual(['addEntry', 'claude-code', 'rev-2'])
})

test('what cannot be saved is said in the form', async () => {
  const { backend, state } = await open()
  state.add('rule')
  ;(state.form as DenyForm).pattern = '['
  backend.saved = { ok: false, message: 'This is no pattern.' }
  await state.saveForm()
  expect(state.form?.problem).toBe('This is no pattern.')
  backend.addDeny = () => Promise.reject(new Error('the host is gone'))
  await state.saveForm()
  expect(state.form?.problem).toContain('the host is gone')
  expect(state.form?.busy).toBe(false)
})

test('an undo shows whose settings it changed', async () => {
  const { backend, state } = await open()
  backend.saved = { canUndo: false, policy: policyOf(backend, 'codex') }
  backend.undo = () => Promise.resolve(backend.saved as Saved).then((s) => ({ ...s, ok: true, conflict: false }))
  await state.undo()
  expect(state.policy?.agent.id).toBe('codex')
  expect(state.note).toEqual({ kind: 'undone' })
  expect(state.canUndo).toBe(false)
})

test('an edit that fails is said and counted, and the next one still goes', async () => {
  const { backend, state } = await open()
  backend.setMode = () => Promise.reject(new Error('broken pipe'))
  await state.setMode('deny')
  expect(state.note).toEqual({ kind: 'problem', message: 'Error: broken pipe' })
  expect(state.refused).toBe(1)
  await state.setWord('ask', 'off')
  expect(state.note).toEqual({ kind: 'saved' })
})

test('rows of every agent are not edited here', async () => {
  const { state } = await open()
  state.change(state.policy!.allowlist.find((e) => e.from === 'every')!)
  expect(state.form).toBeUndefined()
})

test('an edit of the file is answered for the one that was shown', async () => {
  const { backend, state } = await open(held)
  later(600)
  const first = state.answerEdit('5f1d', true)
  backend.fixture.host = { ...backend.fixture.host, heldHash: 'another' }
  const second = state.answerEdit('5f1d', true) // for the one that is on the page still
  await Promise.all([first, second])
  expect(backend.calls.filter((c) => c[0] === 'answerEdit')).toEqual([['answerEdit', '5f1d', true]])
})

test.each<[string, (state: SettingsState, backend: Fake) => unknown]>([
  ['it has just appeared', () => {}],
  ['it is another one', async (state, backend) => {
    later(600)
    backend.fixture.host = { ...backend.fixture.host, heldHash: 'another' }
    await state.reload()
  }],
  ['a question has just gone', (state, backend) => {
    state.see(backend.fixture.screen, true)
    later(600)
    state.see(backend.fixture.screen, false)
  }],
])('an edit of the file is not answered in the half second after %s', async (_, change) => {
  const { backend, state } = await open(held)
  await change(state, backend)
  const hash = state.host!.heldHash!
  for (const take of [true, false]) await state.answerEdit(hash, take)
  expect(backend.calls).toEqual([])
  later(501)
  await state.answerEdit(hash, false)
  expect(backend.calls).toEqual([['answerEdit', hash, false]])
})

test('why the host does not take an answer about the file is said in its words', async () => {
  const { backend, state } = await open(held)
  later(600)
  backend.saved = { ok: false, conflict: true, message: 'This had just changed.' }
  await state.answerEdit('5f1d', true)
  expect(state.note).toEqual({ kind: 'problem', message: 'This had just changed.' })
})

test('the agent that a person asks for in the menu is gone to each time', async () => {
  const { backend, state } = await open()
  const ask = async (agent: string, turn: number) => {
    state.see({ ...backend.fixture.screen, agent, turn }, false)
    await vi.waitFor(() => expect(state.policy?.agent.id).toBe(state.policy && agent ? agent : state.policy?.agent.id))
  }
  state.go('general')
  await ask('codex', 1)
  expect(state.page).toBe('agents')
  await state.choose('scratch')
  state.go('node')
  await ask('', 1) // something else has changed
  state.see({ ...backend.fixture.screen, agent: 'codex', turn: 1 }, false)
  await state.reload()
  expect([state.policy?.agent.id, state.page]).toEqual(['scratch', 'node'])
  await ask('codex', 2)
  expect([state.policy?.agent.id, state.page]).toEqual(['codex', 'agents'])
  state.see({ ...backend.fixture.screen, page: 'hooks', turn: 3 }, false)
  expect(state.page).toBe('hooks')
  await vi.waitFor(() => expect(state.hooks.length).toBeGreaterThan(0))
  backend.fixture.host = { ...backend.fixture.host, replaced: true }
  state.see({ ...backend.fixture.screen, page: 'general', turn: 4 }, false)
  expect(state.page).toBe('general')
  await vi.waitFor(() => expect(state.host?.replaced).toBe(true))
  state.go('node')
  state.see({ ...backend.fixture.screen, page: 'hooks', turn: 4 }, false) // something else has changed
  expect(state.page).toBe('node')
})

test('an agent that was asked for before the settings were there is the first one', async () => {
  const backend = fake(agents as unknown as Fixture)
  const state = new SettingsState(backend)
  state.see({ ...backend.fixture.screen, agent: 'codex', turn: 3 }, false)
  stops.push(state.start())
  await vi.waitFor(() => expect(state.preferences).toBeDefined())
  expect(state.policy?.agent.id).toBe('codex')
})

test('nothing is edited beneath a question', async () => {
  const { backend, state } = await open(held)
  state.add('entry')
  ;(state.form as EntryForm).pattern = '/bin/x'
  later(600)
  state.see(backend.fixture.screen, true)
  const [entry, rule] = [state.policy!.allowlist[0]!, state.policy!.denylist[0]!]
  await Promise.all([
    state.setMode('allow-all'), state.setWord('ask', 'off'), state.switchEntry(entry, false), state.removeEntry(entry), state.removeDeny(rule),
    state.undo(), state.saveForm(), state.answerEdit('5f1d', true), state.prefer({ theme: 'dark' }), state.prefer({ answerFromTerminal: true }),
  ])
  expect(backend.calls).toEqual([])
  expect(state.form).toMatchObject({ pattern: '/bin/x', busy: false })
  state.see(backend.fixture.screen, false)
  await state.saveForm()
  expect(backend.calls.map((c) => c[0])).toEqual(['addEntry'])
})

test('preferences are sent whole', async () => {
  const { backend, state } = await open()
  await state.prefer({ answerFromTerminal: true })
  expect(backend.calls.at(-1)).toEqual(['setPreferences', { ...backend.fixture.preferences, answerFromTerminal: true }])
})

test('only the last preview counts', async () => {
  const { backend, state } = await open()
  const form = new EntryForm(backend, state.policy!)
  const answers: ((p: Preview) => void)[] = []
  backend.preview = () => new Promise((go) => answers.push(go))
  const edit = { ...form.edit, pattern: '/a' }
  const looks = [form.look(edit), form.look({ ...edit, pattern: '/ab' })]
  answers[1]!({ count: 2, programs: [], more: false })
  answers[0]!({ count: 1, programs: [], more: false, problem: 'stale' })
  await Promise.all(looks)
  expect(form.preview?.count).toBe(2)
  // Nothing is asked about an empty pattern, and what was asked before is dropped.
  const late = form.look(edit)
  await form.look({ ...edit, pattern: '' })
  answers[2]!({ count: 9, programs: [], more: false })
  await late
  expect(form.preview).toBeUndefined()
})

test.each([
  ['', []],
  ['fetch', ['fetch']],
  ['fetch\n', ['fetch']],
  ['-m\n two words ', ['-m', ' two words ']],
  ['a\n\nb\n\n', ['a', '', 'b']],
])('arguments %j', async (typed, args) => {
  const { backend, state } = await open()
  const form = new EntryForm(backend, state.policy!)
  form.args = typed
  expect(form.edit.args).toEqual(args)
})

test.each([[['a\nb']], [['-m', '']], [['a\rb']]])('arguments that lines cannot hold stay as they are: %j', async (args) => {
  const { backend, state } = await open()
  const entry = row(state)
  const form = new EntryForm(backend, state.policy!, { ...entry, exact: { ...entry.exact, args } })
  expect(form.argsFit).toBe(false)
  form.args = 'something else'
  expect(form.edit.args).toEqual(args)
})

test('an entry keeps its text to the letter', async () => {
  const { backend, state } = await open()
  const exact = { pattern: ' /odd name/\u202ex ', args: [' a ', ''], argsExact: true, cwd: ' ~/x', note: '' }
  exact.args.push('b')
  const form = new EntryForm(backend, state.policy!, { ...row(state), exact })
  expect(form.edit).toEqual(exact)
})
