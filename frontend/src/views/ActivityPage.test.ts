import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test } from 'vitest'
import agents from '../fixtures/agents.json'
import { fake, type Fixture } from '../lib/backend.fake'
import { activity as text, panel, settings } from '../lib/text'
import type { ActivityFilter, ActivityRow } from '../lib/types'
import Settings from './Settings.svelte'

afterEach(cleanup)

async function open(change: (fixture: Fixture) => void = () => {}) {
  const fixture = structuredClone(agents) as unknown as Fixture
  change(fixture)
  const backend = fake(fixture)
  const page = render(Settings, { backend, screen: fixture.screen, covered: false })
  await fireEvent.click(screen.getByRole('link', { name: settings.pages.activity }))
  const grid = await screen.findByRole('grid', { name: text.list })
  return { backend, grid, ...page }
}

const clean = async (root: Element) => {
  const found = await axe.run(root, { rules: { 'color-contrast': { enabled: false } } })
  expect(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])).toEqual([])
}
const asked = (backend: ReturnType<typeof fake>) => backend.calls.filter((c) => c[0] === 'activity').map((c) => c.slice(1) as [ActivityFilter, number])
const row = (name: RegExp) => screen.findByRole('row', { name })
const history = () => structuredClone(agents.activity) as unknown as NonNullable<Fixture['activity']>

test('the history has no violations, and says who decided', async () => {
  const { container, grid } = await open()
  await row(/git fetch/)
  await clean(container)
  const said = [...grid.querySelectorAll('tbody tr')].map((r) => r.children[3]?.textContent?.trim())
  expect(said).toEqual([
    'Allowed once', 'Passed', 'Denied by you', 'Passed', 'Time ran out', 'Denied by rule', 'Allowed always', 'Caller hung up', 'Waits for you',
  ])
  const why = [...grid.querySelectorAll('tbody tr')].map((r) => r.children[4]?.textContent?.trim())
  expect(why.slice(0, 6)).toEqual(['No entry', 'Entry: rg', 'Runs any code', 'Safe bin', 'No entry', 'Denylist'])
})

test('each filter asks the host, and what is typed waits until nothing more is', async () => {
  const { backend } = await open()
  await row(/git fetch/)
  await screen.findByRole('option', { name: 'codex' })
  const choose = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
  await choose(text.filters.agent, 'codex')
  await choose(text.filters.outcome, 'denied')
  await choose(text.filters.reason, 'denylisted')
  await choose(text.filters.time, 'today')
  const search = screen.getByLabelText(text.search)
  for (const typed of ['s', 'su', 'sudo']) await fireEvent.input(search, { target: { value: typed } })
  await waitFor(() => expect(asked(backend).at(-1)).toEqual([{ agent: 'codex', outcome: 'denied', reason: 'denylisted', time: 'today', text: 'sudo' }, 0]))
  expect(asked(backend)).toHaveLength(6)
})

test('the full record is opened with the keyboard, and gives the focus back', async () => {
  const { grid } = await open()
  const first = await row(/git fetch/)
  first.focus()
  await fireEvent.keyDown(first, { key: 'Enter' })
  const sheet = within(await screen.findByRole('dialog', { name: text.record }))
  for (const said of ['Allowed once', '~/Projects/atlas', 'GIT_EDITOR LANG', /^Allow once, by you on the panel, on /, '1.5 kB', 'Allowlist, ask: on miss']) {
    expect(sheet.getAllByText(said).length).toBeGreaterThan(0)
  }
  expect(sheet.getByRole('list', { name: 'The 3 programs that ran' }).children).toHaveLength(3)
  await clean(screen.getByRole('dialog'))
  await fireEvent.click(sheet.getByRole('button', { name: text.close }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(grid.contains(document.activeElement)).toBe(true)
})

test('the next rows are read when their place comes near, and only once', async () => {
  const many = (from: number): ActivityRow[] =>
    Array.from({ length: 200 }, (_, i) => ({ ...history().page.rows[0]!, n: from - i, id: `r${from - i}`, command: `run ${from - i}` }))
  const { backend, grid } = await open((f) => (f.activity = { ...history(), page: { rows: many(1000), more: true } }))
  await row(/run 1000/)
  expect(grid.getAttribute('aria-rowcount')).toBe('-1')
  expect(asked(backend)).toHaveLength(1)
  expect(grid.querySelectorAll('tbody tr').length).toBeLessThan(60)
  backend.fixture.activity!.page = { rows: many(800).slice(0, 50), more: false }
  const pane = grid.parentElement!
  pane.scrollTop = 150 * 32
  await fireEvent.scroll(pane)
  await waitFor(() => expect(asked(backend).map((a) => a[1])).toEqual([0, 801]))
  await waitFor(() => expect(grid.getAttribute('aria-rowcount')).toBe('251'))
  expect(screen.getByText('250 commands')).toBeTruthy()
})

test('the charts say their numbers', async () => {
  await open()
  expect(await screen.findByRole('img', { name: 'Questions per 100 commands, 14 days, from 12 to 3.5' })).toBeTruthy()
  expect(screen.getByText(/: no commands$/)).toBeTruthy()
  expect(within(screen.getByRole('region', { name: text.byAgent })).getAllByRole('listitem')).toHaveLength(2)
})

test('a suggestion opens as a new entry, or goes', async () => {
  const { backend } = await open()
  expect(await screen.findByText('One entry would have saved 42 questions')).toBeTruthy()
  await fireEvent.click(screen.getByRole('button', { name: text.look }))
  const sheet = within(await screen.findByRole('dialog', { name: settings.form.addEntry }))
  expect(sheet.getByLabelText(settings.form.pattern)).toHaveProperty('value', 'npm')
  expect(sheet.getByLabelText(settings.form.args)).toHaveProperty('value', 'run\nlint')
  expect(backend.calls.some((c) => c[0] === 'addEntry')).toBe(false)
  await fireEvent.click(sheet.getByRole('button', { name: settings.form.cancel }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await fireEvent.click(screen.getByRole('link', { name: settings.pages.activity }))
  await screen.findByText(/^1 of 2 · For/)
  await fireEvent.click(screen.getByRole('button', { name: text.later }))
  expect(screen.queryByText('One entry would have saved 42 questions')).toBeNull()
  expect(screen.queryByText(/1 of/)).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: text.later }))
  expect(screen.queryByRole('list', { name: text.suggestions })).toBeNull()
  expect(backend.calls.some((c) => c[0] === 'turnDown')).toBe(false)
})

test('several entries are suggested whole and added together', async () => {
  const { backend } = await open((f) => f.activity!.suggestions.shift())
  const two = within((await screen.findByText('Two entries would have saved 11 questions')).closest('li')!)
  for (const said of ['/usr/bin/go', '/usr/bin/tail', '~/Projects/atlas', panel.allowed['runs-project-code']!, panel.wide.project!, 'codex']) {
    expect(two.getAllByText((_, e) => e?.textContent === said).length).toBeGreaterThan(0)
  }
  expect(two.queryByRole('button', { name: text.look })).toBeNull() // no form holds them
  await fireEvent.click(two.getByRole('button', { name: text.addSuggested(2) }))
  await waitFor(() => expect(screen.queryByText('Two entries would have saved 11 questions')).toBeNull())
  expect(backend.calls.filter((c) => c[0] === 'addSuggested')).toEqual([['addSuggested', backend.fixture.activity!.suggestions[0]!.id]])
})

test('a suggestion is turned down for good, and stays where that was not noted', async () => {
  const { backend } = await open()
  const never = async () => fireEvent.click(await screen.findByRole('button', { name: text.never }))
  backend.saved = { ok: false, message: 'The disk is full.' }
  await never()
  expect(await screen.findByText('The disk is full.')).toBeTruthy()
  expect(screen.getByText('One entry would have saved 42 questions')).toBeTruthy()
  backend.saved = {}
  await never()
  await waitFor(() => expect(screen.queryByText('One entry would have saved 42 questions')).toBeNull())
  expect(screen.getByText(text.turnedDown).getAttribute('role')).toBe('status')
  expect(backend.calls.filter((c) => c[0] === 'turnDown')).toEqual([['turnDown', '1'], ['turnDown', '1']])
})

test('the stops of this machine are one line, and its causes behind it', async () => {
  const { container } = await open()
  const stops = within(await screen.findByRole('region', { name: text.stopsTitle }))
  expect(stops.getByText(/Last 7 days: asked about 23 of 412 commands \(5\.6 of 100\)\. 18 of these could be remembered\. 4 denied\./)).toBeTruthy()
  expect(stops.queryByText('npm')).toBeNull()
  const more = stops.getByRole('button', { name: text.stopsWhy })
  await fireEvent.click(more)
  expect(more.getAttribute('aria-expanded')).toBe('true')
  const told = (name: string) => within(stops.getByRole('table', { name })).getAllByRole('row').map((r) => r.textContent)
  expect(told(text.stopReasons)).toEqual(['No entry14', 'Can start programs5', 'Runs any code3', 'Denylist3', 'You said no1'])
  expect(told(text.stopPrograms)).toEqual(['npm9', 'git6', 'github/create_issue4', 'curl3', 'sudo3'])
  await clean(container)
  await fireEvent.click(more)
  expect(stops.queryByText('npm')).toBeNull()
})

test.each([
  [{ asked: 1, kept: 1, denied: 1, requests: 20, per100: 5 }, 'Last 7 days: asked about 1 of 20 commands (5 of 100). 1 of these could be remembered. 1 denied.'],
  [{ asked: 0, kept: 0, denied: 0, requests: 1200, per100: 0 }, 'Last 7 days: asked about 0 of 1,200 commands (0 of 100).'],
  [{ asked: 2, kept: 0, denied: 0, requests: 20, per100: 10 }, 'Last 7 days: asked about 2 of 20 commands (10 of 100). 0 of these could be remembered.'],
])('stops are said whole: %o', (stops, want) => {
  expect(text.stops({ ...stops, days: 7, reasons: [], programs: [] })).toBe(want)
})

test('too few commands tell nothing, and a history that cannot be read says so', async () => {
  await open((f) => (f.activity!.stops = { ...f.activity!.stops, requests: 0 }))
  await row(/git fetch/)
  await screen.findByRole('img')
  expect(screen.queryByRole('region', { name: text.stopsTitle })).toBeNull()
  cleanup()
  await open((f) => (f.activity!.stops = { ...f.activity!.stops, requests: 0, problem: 'It took too long.' }))
  expect(await screen.findByText('It took too long.')).toBeTruthy()
})

test('without suggestions and without a history nothing stands in their place', async () => {
  const { backend } = await open((f) => (f.activity = undefined))
  await waitFor(() => expect(asked(backend)).toHaveLength(1))
  expect(screen.queryByRole('list', { name: text.suggestions })).toBeNull()
  expect(screen.queryByRole('img')).toBeNull()
  expect(await screen.findByText(text.noMatch)).toBeTruthy()
  await fireEvent.change(screen.getByLabelText(text.filters.time), { target: { value: '' } })
  expect(await screen.findByText(text.none)).toBeTruthy()
})

test('an export says where it went, or why not', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('button', { name: text.export }))
  expect(await screen.findByText('3 rows written to /Users/dana/history.jsonl')).toBeTruthy()
  expect(backend.calls.at(-1)?.[0]).toBe('exportActivity')
})

test('text of the history is text', async () => {
  const evil = '<img src=x onerror=alert(1)>'
  const { container } = await open((f) => {
    const h = (f.activity = history())
    const cause = { name: evil, stops: 2 } // long names may be cut to the same
    h.stops = { ...h.stops, reasons: [cause, cause], programs: [cause, cause] }
    h.page.rows[0] = { ...h.page.rows[0]!, command: evil, sentence: evil, reason: 'unknown-reason' }
    const record = h.records[h.page.rows[0].id]!
    Object.assign(record, { note: evil, env: [evil], told: evil, deciding: evil, folder: evil, programs: [{ command: evil, path: evil, end: { took: 1 } }] })
  })
  await fireEvent.click(await screen.findByRole('button', { name: text.stopsWhy }))
  expect(screen.getAllByRole('rowheader', { name: evil })).toHaveLength(4)
  await fireEvent.dblClick(await row(/img src.*Allowed/))
  await screen.findByRole('dialog')
  expect(document.querySelector('img')).toBeNull()
  expect(container.textContent).toContain(evil)
})

test('a request that ran becomes an entry, as wide as is chosen', async () => {
  const { backend } = await open()
  await fireEvent.dblClick(await row(/git fetch/))
  await fireEvent.click(await screen.findByRole('button', { name: text.keep }))
  const record = await screen.findByRole('dialog', { name: text.keepTitle('claude-code') })
  await clean(record)
  expect(within(record).getByText(text.replaces)).toBeTruthy()
  const [exact, words] = within(record).getAllByRole<HTMLInputElement>('radio')
  expect([exact?.checked, words?.checked]).toEqual([false, true]) // what is suggested
  await fireEvent.click(exact!)
  await fireEvent.click(words!)
  await fireEvent.click(within(record).getByRole('radio', { name: panel.keep['1h'] }))
  await fireEvent.click(within(record).getByRole('button', { name: text.keepSave }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(backend.calls.filter((c) => c[0] === 'keepOffered')).toEqual([['keepOffered', '5f1d-0000', 'words', true, '1h']])
})

test('what cannot become an entry says why, and goes back to the record', async () => {
  const { backend } = await open((fixture) => delete fixture.activity?.offered)
  await fireEvent.dblClick(await row(/git fetch/))
  await fireEvent.click(await screen.findByRole('button', { name: text.keep }))
  expect((await screen.findByRole('alert')).textContent).toContain('The fixture offers nothing.')
  expect(screen.queryByRole('button', { name: text.keepSave })).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: text.keepBack }))
  await waitFor(() => expect(document.activeElement?.textContent).toBe(text.keep))
  expect(backend.calls.some((c) => c[0] === 'keepOffered')).toBe(false)
})

test('a request that was denied has no such button', async () => {
  await open()
  await fireEvent.dblClick(await row(/curl/))
  await screen.findByRole('dialog', { name: text.record })
  expect(screen.queryByRole('button', { name: text.keep })).toBeNull()
})
