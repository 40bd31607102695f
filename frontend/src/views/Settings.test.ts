import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test, vi } from 'vitest'
import agents from '../fixtures/agents.json'
import history from '../fixtures/agents-history.json'
import broken from '../fixtures/agents-broken.json'
import held from '../fixtures/agents-held.json'
import { fake, type Fixture } from '../lib/backend.fake'
import { lists, settings as text, transfer } from '../lib/text'
import type { EntryRow } from '../lib/types'
import Settings from './Settings.svelte'

afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
})

/** A fixture in which one agent waits, so that it is the one that is shown. */
const shows = (id: string, from: unknown = agents) => {
  const fixture = structuredClone(from) as Fixture
  for (const row of fixture.agents) row.waiting = row.agent.id === id ? 1 : 0
  return fixture
}

async function open(fixture: Fixture = shows('claude-code')) {
  const backend = fake(fixture)
  const page = render(Settings, { backend, screen: backend.fixture.screen, covered: false })
  await screen.findByRole('grid')
  return { backend, ...page }
}

const rowOf = (name: string) => screen.getByTitle(name).closest('tr')!
const dialog = () => screen.findByRole('dialog')
const clean = async (root: Element) => {
  const found = await axe.run(root, { rules: { 'color-contrast': { enabled: false } } })
  expect(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])).toEqual([])
}

test('the page has no violations, and shows what is there and nothing else', async () => {
  const { container } = await open()
  await clean(container)
  const links = screen.getAllByRole('link').map((a) => a.textContent?.trim().replace(/\s+/g, ' '))
  expect(links).toEqual(['Agents 4', 'Activity', 'Try a command', 'Node', 'Hooks', 'Permissions', 'General'])
  const { allowlist, denylist } = agents.policies['claude-code']
  expect(screen.getByRole('tab', { name: `Allowlist ${allowlist.length}` })).toBeTruthy()
  expect(screen.getByRole('tab', { name: `Denylist ${denylist.length}` })).toBeTruthy()
})

test('all that is known of a chosen row is said below the table', async () => {
  const fixture = shows('claude-code')
  const row = fixture.policies['claude-code']!.allowlist.find((e) => e.pattern === 'rg')!
  const day = (n: number) => Date.UTC(2026, 2, n, 12)
  Object.assign(row, {
    lastUsed: day(3), lastCommand: 'rg --hidden secret', lastPath: '/opt/bin/rg', note: 'reads only', addedBy: 'developer tools', addedAt: day(4), ends: day(30),
    args: ['--one', 'two'], argPattern: 'x.*y', env: ['GOOS=linux'], cwd: '/work', session: 'nightly',
  })
  await open(fixture)
  expect(screen.queryByRole('region', { name: text.chosenEntry })).toBeNull()
  rowOf('rg reads only').focus()
  const detail = within(await screen.findByRole('region', { name: text.chosenEntry }))
  for (const said of ['rg', 'rg --hidden secret', '/opt/bin/rg', 'reads only', '--one', 'two', 'x.*y', 'GOOS=linux', '/work', 'nightly', text.date(day(3)), text.date(day(30)), `With the developer tools, ${text.date(day(4))}`]) {
    expect(detail.getByText(said), said).toBeTruthy()
  }
  await clean(document.body)
})

test.each([
  ['panel', 'On the panel'], ['settings', 'In the settings'], ['command line', 'On the command line'], ['a script', 'a script'], ['constructor', 'constructor'], ['', 'Not noted'],
])('added by %j', (by, want) => expect(text.addedBy(by, '')).toBe(want))

test('the whole reason of a rule is said below the table', async () => {
  const fixture = shows('claude-code')
  fixture.policies['claude-code']!.denylist[0]!.reason = 'because '.repeat(40).trim()
  await open(fixture)
  await fireEvent.click(screen.getByRole('tab', { name: /^Denylist/ }))
  const row = (await screen.findAllByRole('row'))[1]!
  await fireEvent.click(row)
  const detail = within(await screen.findByRole('region', { name: text.chosenRule }))
  expect(detail.getByText('because '.repeat(40).trim())).toBeTruthy()
})

test('agents of one name are told apart', async () => {
  const fixture = shows('claude-code')
  for (const row of fixture.agents.slice(1, 3)) row.agent = { ...row.agent, name: 'Helper', full: row.agent.id }
  fixture.policies['claude-code']!.agent = fixture.agents[1]!.agent
  await open(fixture)
  await fireEvent.click(screen.getByRole('button', { name: `${text.agent}: Helper claude-code` }))
  await fireEvent.input(await screen.findByLabelText(text.findAgent), { target: { value: fixture.agents[2]!.agent.id } })
  await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(1))
  expect(screen.getByRole('option').textContent).toContain(fixture.agents[2]!.agent.id)
})

test('of 10 000 entries only those near what is seen exist', async () => {
  const fixture = shows('claude-code')
  const [one] = fixture.policies['claude-code']!.allowlist
  fixture.policies['claude-code']!.allowlist = Array.from({ length: 10_000 }, (_, i): EntryRow => ({ ...one!, id: `n${i}`, lastUsed: 20_000 - i, pattern: `/bin/p${i}` }))
  await open(fixture)
  const grid = screen.getByRole('grid')
  await waitFor(() => expect(grid).toHaveProperty('ariaRowCount', '10001')) // the first ones are there before
  expect(grid.querySelectorAll('tr').length).toBeLessThan(200)
  expect(within(grid).getByTitle('/bin/p0').closest('tr')!.getAttribute('aria-rowindex')).toBe('2')

  const pane = grid.parentElement!
  pane.scrollTop = 9_000 * 32
  await fireEvent.scroll(pane)
  expect(grid.querySelectorAll('tr').length).toBeLessThan(200)
  expect(within(grid).getByTitle('/bin/p9000').closest('tr')!.getAttribute('aria-rowindex')).toBe('9002')

  await fireEvent.input(screen.getByLabelText(text.filter), { target: { value: '/bin/p77' } })
  expect(grid.getAttribute('aria-rowcount')).toBe('112')
})

test('rows are chosen, switched, edited and deleted with the keyboard', async () => {
  const { backend } = await open()
  const git = rowOf('/opt/homebrew/bin/git')
  git.focus()
  await waitFor(() => expect(git.getAttribute('aria-selected')).toBe('true'))
  await fireEvent.keyDown(git, { key: 'ArrowDown' })
  await waitFor(() => expect(document.activeElement).toBe(rowOf('rg')))
  await fireEvent.keyDown(rowOf('rg'), { key: ' ' })
  await waitFor(() => expect(backend.calls.at(-1)?.[0]).toBe('switchEntry'))
  expect(backend.calls.at(-1)?.slice(3)).toEqual(['a2', false])
  await fireEvent.keyDown(rowOf('rg'), { key: 'Delete' })
  await waitFor(() => expect(backend.calls.at(-1)?.[0]).toBe('removeEntry'))
  expect(backend.calls.at(-1)?.[3]).toBe('a2')
  git.focus()
  await waitFor(() => expect(git.getAttribute('aria-selected')).toBe('true'))
  await fireEvent.keyDown(git, { key: 'Enter' })
  expect(within(await dialog()).getByLabelText(text.form.pattern)).toHaveProperty('value', '/opt/homebrew/bin/git')
})

test('the focus goes to the next row when the one that has it is deleted', async () => {
  const { backend } = await open()
  const policy = backend.fixture.policies['claude-code']!
  const rg = rowOf('rg')
  rg.focus()
  await waitFor(() => expect(rg.getAttribute('aria-selected')).toBe('true'))
  backend.saved = { policy: { ...policy, rev: 'rev-2', allowlist: policy.allowlist.filter((e) => e.id !== 'a2') } }
  backend.fixture.policies['claude-code'] = backend.saved.policy!
  await fireEvent.keyDown(rg, { key: 'Backspace' })
  await waitFor(() => expect(document.activeElement).toBe(rowOf('~/bin/**')))
})

test('a quiet reload leaves the choice, the order and the filter', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('button', { name: text.columns.program }))
  await fireEvent.input(screen.getByLabelText(text.filter), { target: { value: '/usr' } })
  const order = () => screen.getAllByRole('row').filter((r) => !r.matches('.grid-note')).map((r) => r.querySelector('.middle')?.getAttribute('title')?.split('\n')[0])
  const before = order()
  expect(before).toEqual([undefined, '/usr/bin/plutil', '/usr/bin/swift', '/usr/local/bin/npm', '/usr/local/go/bin/go', undefined, '/usr/bin/uname'])
  await fireEvent.click(rowOf('/usr/local/bin/npm'))
  const policy = structuredClone(backend.fixture.policies['claude-code']!)
  for (const e of policy.allowlist) e.lastUsed = agents.screen.now
  backend.fixture.policies['claude-code'] = policy
  backend.tell('policy')
  await waitFor(() => expect(within(rowOf('/usr/local/bin/npm')).getByText('Just now')).toBeTruthy())
  expect(order()).toEqual(before)
  expect(rowOf('/usr/local/bin/npm').getAttribute('aria-selected')).toBe('true')
})

test('the variables that an entry carries are shown, in its row and where it is changed', async () => {
  await open()
  const row = rowOf('/usr/local/go/bin/go')
  expect(row.textContent).toContain(`${text.withVariables}GOOS=linux`)
  row.focus()
  await waitFor(() => expect(row.getAttribute('aria-selected')).toBe('true'))
  await fireEvent.keyDown(row, { key: 'Enter' })
  const sheet = within(await dialog())
  expect(sheet.getByText('GOOS=linux')).toBeTruthy()
  expect(sheet.getByText(text.form.envKept)).toBeTruthy()
})

test('rows of every agent are read-only', async () => {
  const { backend } = await open()
  const row = rowOf('/usr/bin/uname')
  expect(within(row).getByRole('checkbox')).toHaveProperty('disabled', true)
  row.focus()
  await waitFor(() => expect(row.getAttribute('aria-selected')).toBe('true'))
  for (const key of ['Delete', ' ', 'Enter']) await fireEvent.keyDown(row, { key })
  expect(screen.getByRole('button', { name: text.remove })).toHaveProperty('disabled', true)
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(backend.calls).toEqual([])
})

test('a box that was pressed in vain shows what holds', async () => {
  const { backend } = await open()
  backend.saved = { ok: false, message: 'The disk is full.' }
  const box = () => within(rowOf('rg')).getByRole<HTMLInputElement>('checkbox')
  await fireEvent.click(box())
  expect(await screen.findByText('The disk is full.')).toBeTruthy()
  await waitFor(() => expect(box().checked).toBe(true))
  backend.saved = {}
  await fireEvent.click(box())
  await waitFor(() => expect(backend.calls.filter((c) => c[0] === 'switchEntry').map((c) => c[4])).toEqual([false, false]))
})

test('a custom mode is shown as what holds, and cannot be pressed', async () => {
  const { backend } = await open(shows('scratch'))
  const modes = within(screen.getByRole('radiogroup', { name: text.mode }))
  const custom = modes.getByRole('radio', { name: 'Custom: full/on-miss' })
  expect(custom.getAttribute('aria-checked')).toBe('true')
  expect(custom).toHaveProperty('disabled', true)
  await fireEvent.click(modes.getByRole('radio', { name: 'Only listed' }))
  await waitFor(() => expect(backend.calls.at(-1)?.[3]).toBe('only-listed'))
  // What holds is what the host says: it said nothing new.
  expect(custom.getAttribute('aria-checked')).toBe('true')
})

test('arrow keys among the modes choose nothing', async () => {
  const { backend } = await open()
  const mode = (name: string) => screen.getAllByRole('radio', { name })[0]!
  mode('Deny').focus()
  await fireEvent.keyDown(mode('Deny'), { key: 'ArrowLeft' })
  await waitFor(() => expect(document.activeElement).toBe(mode('Allow all')))
  expect(backend.calls).toEqual([])
})

test('a word that is set here can be left to every agent', async () => {
  const { backend } = await open()
  expect(screen.queryByRole('button', { name: text.useDefaultFor('Ask fallback') })).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: text.useDefaultFor('Ask') }))
  await waitFor(() => expect(backend.calls.at(-1)?.slice(0, 5)).toEqual(['setWord', 'claude-code', agents.policies['claude-code'].rev, 'ask', '']))
})

test('the switcher finds an agent by a part of its name', async () => {
  await open()
  await fireEvent.click(screen.getByRole('button', { name: `${text.agent}: claude-code` }))
  const search = await screen.findByLabelText(text.findAgent)
  expect(screen.getAllByRole('option').map((o) => o.textContent?.includes('Ask'))).toEqual([false, true, true, false, false])
  expect(screen.getAllByRole('option')[1]!.textContent).toContain('1 waiting')
  await fireEvent.input(search, { target: { value: 'BOT' } })
  await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(1))
  await fireEvent.click(screen.getByRole('option'))
  expect(await screen.findByRole('button', { name: `${text.agent}: release-bot` })).toBeTruthy()
  expect(screen.getByText('release-bot runs nothing.')).toBeTruthy()
})

test('a conflict leaves what was typed in the dialog', async () => {
  const { backend } = await open()
  await fireEvent.dblClick(rowOf('rg'))
  const sheet = within(await dialog())
  await fireEvent.input(sheet.getByLabelText(text.form.note), { target: { value: 'typed' } })
  backend.saved = { ok: false, conflict: true, policy: { ...backend.fixture.policies['claude-code']!, rev: 'rev-2' } }
  await fireEvent.click(sheet.getByRole('button', { name: text.form.save }))
  expect(await sheet.findByText(text.conflictForm)).toBeTruthy()
  expect(sheet.getByLabelText(text.form.note)).toHaveProperty('value', 'typed')
})

test('what is typed survives a question', async () => {
  const { rerender } = await open()
  await fireEvent.click(screen.getByRole('button', { name: text.add }))
  await fireEvent.input(within(await dialog()).getByLabelText(text.form.pattern), { target: { value: '/half/typ' } })
  await rerender({ covered: true })
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await rerender({ covered: false })
  expect(within(await dialog()).getByLabelText(text.form.pattern)).toHaveProperty('value', '/half/typ')
})

test('nothing is saved without a pattern, or with one that cannot be used', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('button', { name: text.add }))
  const sheet = within(await dialog())
  const save = sheet.getByRole('button', { name: text.form.save })
  expect(save).toHaveProperty('disabled', true)
  backend.fixture.preview = { count: 0, programs: [], more: false, problem: 'The pattern ends with a slash.' }
  await fireEvent.input(sheet.getByLabelText(text.form.pattern), { target: { value: '/bin/' } })
  expect(await sheet.findByText('The pattern ends with a slash.')).toBeTruthy()
  expect(save).toHaveProperty('disabled', true)
  backend.fixture.preview = { count: 61, programs: ['/bin/a'], more: false, warning: 'broad' }
  await fireEvent.input(sheet.getByLabelText(text.form.pattern), { target: { value: '/bin/*' } })
  expect(await sheet.findByText('Too broad: matches 61 programs, and any that is put there later.')).toBeTruthy()
  expect(save).toHaveProperty('disabled', false)
  await clean(document.querySelector('[role="dialog"]')!)
})

test('what needs a look is said below its row, with one button that does something about it', async () => {
  const { backend } = await open()
  const note = async (said: string) => within((await screen.findByText(said)).closest('tr')!)
  const broad = await note('Too broad: matches 61 programs, and any that is put there later.')
  expect(rowOf('~/bin/**').nextElementSibling?.matches('.grid-note')).toBe(true)
  expect(screen.getByText(/· 3 need a look/)).toBeTruthy()
  await fireEvent.click(broad.getByRole('button', { name: 'Narrow ~/bin/**' }))
  const sheet = within(await dialog())
  expect(sheet.getByLabelText(text.form.pattern)).toHaveProperty('value', '~/bin/**')
  await fireEvent.click(sheet.getByRole('button', { name: text.form.cancel }))
  await fireEvent.click((await note('Not used for 94 days.')).getByRole('button', { name: 'Switch off /usr/bin/plutil' }))
  await waitFor(() => expect(backend.calls.at(-1)?.slice(3)).toEqual(['a6', false]))
  await fireEvent.click((await note('Leads nowhere: there is no such program here.')).getByRole('button', { name: 'Delete /opt/homebrew/bin/fd' }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['removeEntry', 'claude-code', expect.any(String), 'a7']))
  // The keys go from row to row, and the button of the chosen one is in the way of Tab.
  const bin = rowOf('~/bin/**')
  bin.focus()
  await waitFor(() => expect(bin.getAttribute('aria-selected')).toBe('true'))
  expect(broad.getByRole('button').tabIndex).toBe(0)
  await fireEvent.keyDown(bin, { key: 'ArrowDown' })
  await waitFor(() => expect(document.activeElement).toBe(rowOf('/usr/local/bin/npm')))
  await fireEvent.keyDown(rowOf('/usr/local/bin/npm'), { key: 'ArrowUp' })
  await waitFor(() => expect(document.activeElement).toBe(bin))
  await fireEvent.keyDown(bin, { key: 'End' })
  await waitFor(() => expect(document.activeElement).toBe(rowOf('/usr/bin/uname')))
})

test('a list from a file is shown, with what is wrong with it, before it is added', async () => {
  const { backend } = await open()
  const choose = async (what: string) => {
    await fireEvent.click(screen.getByRole('button', { name: transfer.menu }))
    // As through the accessible tree: no pointer has lit it.
    await fireEvent.click(await screen.findByRole('menuitem', { name: what }))
  }
  await choose(transfer.import)
  let sheet = within(await screen.findByRole('dialog', { name: transfer.title }))
  for (const said of ['4 entries would be added. 1 is there already.', 'Is there already', /^Too broad: matches 61 programs/, /^Runs any code/]) expect(sheet.getByText(said)).toBeTruthy()
  await clean(screen.getByRole('dialog'))
  await fireEvent.click(sheet.getByRole('button', { name: transfer.cancel }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(backend.calls.some((c) => c[0] === 'takeImport')).toBe(false)
  await choose(transfer.import)
  sheet = within(await screen.findByRole('dialog', { name: transfer.title }))
  await fireEvent.click(sheet.getByRole('button', { name: 'Add 4 entries' }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['takeImport', 'claude-code', expect.any(String), 't']))
  expect(await screen.findByRole('button', { name: text.undo })).toBeTruthy()

  backend.fixture.import = { token: '', file: '/x', rows: [], new: 0, partial: false, problem: 'Nothing is imported: x:1: agents.a.ask: bad.' }
  await choose(transfer.import)
  expect((await screen.findByRole('alert')).textContent).toContain('agents.a.ask')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await choose(transfer.export)
  expect(await screen.findByText('3 entries written to /Users/dana/list.json')).toBeTruthy()
})

test('safe bins and the folders they are trusted in are listed, added and removed', async () => {
  const { backend } = await open()
  await fireEvent.click(await screen.findByRole('tab', { name: `${lists.safeBins} 8` }))
  const grid = await screen.findByRole('grid', { name: lists.safeBins })
  const row = (name: string) => within(grid).getByTitle(name).closest('tr')!
  expect(row('jq').textContent).toContain(lists.uses.never)
  expect(row('shout').textContent).toContain(lists.uses.unknown)
  expect(row('/usr/bin').textContent).toContain(lists.fixed)
  await clean(grid.closest('main')!)
  await fireEvent.click(row('/usr/bin'))
  expect(screen.getByRole('button', { name: text.remove })).toHaveProperty('disabled', true)
  row('/opt/homebrew/bin').focus()
  await waitFor(() => expect(row('/opt/homebrew/bin').getAttribute('aria-selected')).toBe('true'))
  await fireEvent.keyDown(row('/opt/homebrew/bin'), { key: 'Delete' })
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['removeFrom', 'claude-code', expect.any(String), 'safe-bins', '/opt/homebrew/bin']))
  await fireEvent.click(screen.getByRole('button', { name: text.add }))
  const sheet = within(await dialog())
  expect(sheet.getByRole('button', { name: text.form.save })).toHaveProperty('disabled', true)
  await fireEvent.input(sheet.getByLabelText(lists.safeBin), { target: { value: 'rev' } })
  await fireEvent.click(sheet.getByRole('button', { name: text.form.save }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['addTo', 'claude-code', expect.any(String), 'safe-bins', 'rev']))
})

test('projects say whether they count, and are added and removed', async () => {
  const { backend } = await open()
  await fireEvent.click(await screen.findByRole('tab', { name: `${lists.projects} 5` }))
  const grid = await screen.findByRole('grid', { name: lists.projects })
  const row = (name: string) => within(grid).getByTitle(name).closest('tr')!
  expect(row('~/Work/ledger').textContent).toContain(lists.project)
  expect(row('~/Downloads/unpacked').textContent).toContain(lists.notProject)
  expect(row('/Volumes/stick/site').textContent).toContain(lists.projectGone('it is not there'))
  expect(row('~/Work/site').textContent).toContain(lists.projectRunning)
  expect(row('~/Work/site-fix').textContent).toContain(`${lists.projectSame} ~/Work/site`)
  await clean(grid.closest('main')!)
  const allow = () => screen.getByRole('button', { name: lists.allowProject })
  for (const name of ['~/Downloads/unpacked', '/Volumes/stick/site', '~/Work/site']) {
    await fireEvent.click(row(name))
    expect(screen.getByRole('button', { name: text.remove })).toHaveProperty('disabled', true)
    expect(allow()).toHaveProperty('disabled', true)
  }
  await fireEvent.click(row('~/Work/ledger'))
  expect(screen.getByText(lists.projectWouldRun)).toBeTruthy()
  await fireEvent.click(allow())
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['allowProject', 'claude-code', expect.any(String), '/Users/dana/Work/ledger']))
  row('~/Work/ledger').focus()
  await fireEvent.keyDown(row('~/Work/ledger'), { key: 'Delete' })
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['removeFrom', 'claude-code', expect.any(String), 'projects', '/Users/dana/Work/ledger']))
  await fireEvent.click(screen.getByRole('button', { name: text.add }))
  const sheet = within(await dialog())
  await fireEvent.input(sheet.getByLabelText(lists.projectFolder), { target: { value: '~/Work/site' } })
  await fireEvent.click(sheet.getByRole('button', { name: text.form.save }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['addTo', 'claude-code', expect.any(String), 'projects', '~/Work/site']))
})

test('skills say whether they are what was accepted', async () => {
  const { backend } = await open()
  await fireEvent.click(await screen.findByRole('tab', { name: `${lists.skills} 3` }))
  const grid = await screen.findByRole('grid', { name: lists.skills })
  const row = (name: string) => within(grid).getByText(name).closest('tr')!
  expect(row('summarize').textContent).toContain(lists.states.same)
  expect(row('transcribe').textContent).toContain(lists.states.changed)
  await clean(grid.closest('main')!)
  await fireEvent.click(row('transcribe'))
  expect(within(await screen.findByRole('region', { name: lists.chosenSkill })).getByText('5f1d'.repeat(16))).toBeTruthy()
  await fireEvent.click(row('weather')) // every agent's
  await waitFor(() => expect(screen.getByRole('button', { name: text.remove })).toHaveProperty('disabled', true))
  await fireEvent.click(screen.getByRole('checkbox', { name: lists.autoSkills }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['setWord', 'claude-code', expect.any(String), 'autoAllowSkills', 'true']))
})

test('answers of a gateway are off until they are switched on, and without one that is said', async () => {
  const { backend } = await open()
  await fireEvent.click(await screen.findByRole('tab', { name: lists.gateways }))
  const box = await screen.findByRole<HTMLInputElement>('switch', { name: lists.acceptAt('studio-gateway') })
  expect(box.checked).toBe(false)
  expect(screen.getByText(lists.acceptWhat)).toBeTruthy()
  await clean(box.closest('main')!)
  await fireEvent.click(box)
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['setAnswersFrom', 'claude-code', expect.any(String), 'studio-gateway', true]))
  cleanup()
  const other = await open(shows('codex'))
  await fireEvent.click(await screen.findByRole('tab', { name: lists.gateways }))
  expect(await screen.findByText(lists.noGateway)).toBeTruthy()
  const own = screen.getByRole<HTMLInputElement>('switch', { name: lists.acceptClient }) // the only one
  expect(own.checked).toBe(false)
  expect(screen.getByText(lists.acceptClientWhat)).toBeTruthy()
  await fireEvent.click(own)
  await waitFor(() => expect(other.backend.calls.at(-1)).toEqual(['setAnswersFrom', 'codex', expect.any(String), 'mcp-client', true]))
})

test('general says how much the history holds', async () => {
  await open()
  await fireEvent.click(screen.getByRole('link', { name: text.pages.general }))
  expect(await screen.findByText(/^2,318 rows, 1.5 MB, since Jan 21, 2026/)).toBeTruthy()
})

test('undo comes after an edit, and its key is left to text fields', async () => {
  const { backend } = await open()
  expect(screen.queryByRole('button', { name: text.undo })).toBeNull()
  rowOf('rg').focus()
  await waitFor(() => expect(rowOf('rg').getAttribute('aria-selected')).toBe('true'))
  await fireEvent.keyDown(rowOf('rg'), { key: 'Delete' })
  await screen.findByRole('button', { name: text.undo })
  expect(screen.getByText(text.saved)).toBeTruthy()
  const undos = () => backend.calls.filter((c) => c[0] === 'undo').length
  await fireEvent.keyDown(screen.getByLabelText(text.filter), { key: 'z', metaKey: true })
  expect(undos()).toBe(0)
  await fireEvent.keyDown(document.body, { key: 'z', ctrlKey: true })
  await waitFor(() => expect(undos()).toBe(1))
})

test('an edit of the file stands above every page, and keeping comes first', async () => {
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now)
  const { backend } = await open(shows('codex', held))
  await fireEvent.click(screen.getByRole('link', { name: text.pages.node }))
  const banner = within(await screen.findByRole('region', { name: text.held }))
  expect(banner.getAllByRole('button').map((b) => b.textContent)).toEqual([text.keep, text.take])
  for (const change of held.host.held) expect(banner.getByText(change)).toBeTruthy()
  await fireEvent.click(banner.getByRole('button', { name: text.keep }))
  expect(backend.calls).toEqual([]) // it had just appeared
  clock.mockReturnValue(now + 600)
  await fireEvent.click(banner.getByRole('button', { name: text.keep }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['answerEdit', '5f1d', false]))
})

test('the page of the node says how far its service came', async () => {
  const at = { gateway: 'wss://g.example', since: Date.UTC(2026, 0, 5, 10) }
  for (const [nodeService, said] of [
    [undefined, [text.node.noService]],
    [{ ...at, state: 'unpaired', error: 'approve it there' }, [text.node.states.unpaired!(''), 'approve it there', at.gateway]],
    [{ ...at, state: 'away', error: 'refused' }, [text.node.states.away!(text.date(at.since)), 'refused']],
    [{ ...at, state: 'connected' }, [text.node.states.connected!(text.date(at.since)), text.node.notCalled]],
    [{ ...at, state: 'connected', called: at.since }, [text.node.approved(text.date(at.since))]],
  ] as const) {
    await open(shows('codex', { ...held, host: { ...held.host, nodeService } }))
    await fireEvent.click(screen.getByRole('link', { name: text.pages.node }))
    for (const words of said) expect(await screen.findByText(words)).toBeTruthy()
    cleanup()
  }
})

test('a policy file that cannot be used is said, with why', async () => {
  await open(shows('codex', history))
  expect((await screen.findByRole('alert')).textContent).toContain(history.host.history)
  expect(screen.getByText(text.historyKept(history.host.historyAside[0]!))).toBeTruthy()
  expect(screen.getByText(text.passphrase)).toBeTruthy()
  expect(screen.getByText(text.foot.history)).toBeTruthy()
  cleanup()
  await open(shows('codex', broken))
  expect((await screen.findByRole('alert')).textContent).toContain(broken.host.broken)
  expect(screen.getByText(text.foot.broken)).toBeTruthy()
})

test('text of the host is text', async () => {
  const fixture = shows('claude-code')
  const evil = '<img src=x onerror=alert(1)>'
  fixture.policies['claude-code']!.agent.name = evil
  fixture.policies['claude-code']!.allowlist[0]!.pattern = evil
  fixture.policies['claude-code']!.denylist[0]!.reason = evil
  const { container } = await open(fixture)
  expect(container.querySelector('img')).toBeNull()
  expect(container.textContent).toContain(evil)
})

test('the switch of the terminal shows what holds, and is sent with the theme', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('link', { name: text.pages.general }))
  const terminal = screen.getByRole<HTMLInputElement>('switch', { name: text.general.terminal })
  expect(terminal.checked).toBe(false)
  await fireEvent.click(terminal)
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['setPreferences', { ...backend.fixture.preferences, answerFromTerminal: true }]))
})

test('each permission says how it stands, and offers only what can be done about it', async () => {
  const { backend, container } = await open()
  await fireEvent.click(screen.getByRole('link', { name: 'Permissions' }))
  const row = (title: string) => within(screen.getByRole('heading', { name: title }).closest('li')!)
  const offered = (title: string) => row(title).getAllByRole('button').map((b) => b.textContent)
  const { open: shows, request, states, stale, adHoc } = text.permissions
  expect(offered('Accessibility')).toEqual([shows])
  expect(offered('Automation')).toEqual([request, shows])
  expect(offered('Full Disk Access')).toEqual([shows])
  expect(row('Microphone').getByText(states.denied!)).toBeTruthy()
  expect(row('Screen Recording').getByText(stale, { exact: false })).toBeTruthy()
  expect(row('Automation').queryByText(stale, { exact: false })).toBeNull()
  expect(screen.getByText(adHoc)).toBeTruthy()
  await clean(container)
  const grant = (id: string) => {
    const { list, ...rest } = backend.fixture.permissions!
    backend.fixture.permissions = { ...rest, list: list.map((p) => (p.id === id ? { ...p, state: 'granted' } : p)) }
  }
  grant('automation')
  await fireEvent.click(row('Automation').getByRole('button', { name: /^Request/ }))
  expect(backend.calls.at(-1)).toEqual(['requestPermission', 'automation'])
  await waitFor(() => expect(offered('Automation')).toEqual([shows]))
  backend.saved = { ok: false, message: 'It did not open.' }
  await fireEvent.click(row('Camera').getByRole('button', { name: /^Open/ }))
  expect(backend.calls.at(-1)).toEqual(['openPermission', 'camera'])
  expect(await screen.findByRole('alert')).toHaveProperty('textContent', expect.stringContaining('It did not open.'))
  grant('microphone')
  await fireEvent.focus(window) // back from System Settings
  await waitFor(() => expect(row('Microphone').getByText(states.granted!)).toBeTruthy())
})

test('where macOS grants nothing there is no page for it', async () => {
  const fixture = shows('claude-code')
  delete fixture.permissions
  await open(fixture)
  expect(screen.queryByRole('link', { name: 'Permissions' })).toBeNull()
})

test('Touch ID is chosen for an agent, and for how long it counts', async () => {
  const { backend } = await open()
  await fireEvent.click(within(await screen.findByRole('radiogroup', { name: text.words.presence })).getByRole('radio', { name: 'High risk' }))
  await waitFor(() => expect(backend.calls.at(-1)).toEqual(['setWord', 'claude-code', expect.any(String), 'presence', 'risky']))
  await fireEvent.click(screen.getByRole('link', { name: 'General' }))
  const choose = async (group: string, option: string, want: object) => {
    await fireEvent.click(within(await screen.findByRole('radiogroup', { name: group })).getByRole('radio', { name: option }))
    await waitFor(() => expect(backend.calls.at(-1)).toEqual(['setPreferences', { ...backend.fixture.preferences, ...want }]))
  }
  await choose(text.general.grace, '5 minutes', { graceMinutes: 5 })
  await choose(text.general.without, text.general.withouts.nothing!, { touchIdOnly: true })
})

test('where nobody can be asked for Touch ID, only what is set shows it', async () => {
  const fixture = shows('claude-code')
  fixture.preferences.canConfirm = false
  await open(fixture)
  await fireEvent.click(screen.getByRole('link', { name: 'General' }))
  await screen.findByText(text.general.sound) // the preferences are there
  expect(screen.queryByText(text.general.grace)).toBeNull()
  await fireEvent.click(screen.getByRole('link', { name: /^Agents/ }))
  expect(screen.queryByRole('radiogroup', { name: text.words.presence })).toBeNull()
  cleanup()
  fixture.policies['claude-code']!.presence.value = 'always'
  await open(fixture)
  expect(screen.getByRole('radiogroup', { name: text.words.presence })).toBeTruthy()
})

test('another version in place of the app is told, and started on a press', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('link', { name: 'General' }))
  await screen.findByRole('button', { name: text.general.readAgain })
  expect(screen.queryByRole('button', { name: text.general.restart })).toBeNull()
  backend.fixture.host = { ...backend.fixture.host, replaced: true }
  await fireEvent.click(screen.getByRole('button', { name: text.general.readAgain }))
  await fireEvent.click(await screen.findByRole('button', { name: text.general.restart }))
  expect(backend.calls.filter(([name]) => name === 'restart')).toHaveLength(1)
})

test('the login environment is read again on a press, and a shell that cannot tell it is told of', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('link', { name: 'General' }))
  backend.saved = { ok: false, message: 'The shell did not finish in time.' }
  await fireEvent.click(await screen.findByRole('button', { name: text.general.readAgain }))
  expect(await screen.findByRole('alert')).toHaveProperty('textContent', expect.stringContaining('did not finish in time'))
  const at = Date.UTC(2026, 2, 21, 12)
  backend.saved = {}
  backend.fixture.host = { ...backend.fixture.host, environment: at }
  await fireEvent.click(screen.getByRole('button', { name: text.general.readAgain }))
  expect(await screen.findByText(text.general.environmentRead(text.date(at)))).toBeTruthy()
  expect(backend.calls.filter(([name]) => name === 'readEnvironment')).toHaveLength(2)
})
