import { cleanup, render } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import App from './App.svelte'
import { fake, type Fake, type Fixture } from './lib/backend.fake'
import { calls, ended, host, question, replace, widths } from './lib/sample'
import { change as text, folder as folderText } from './lib/text'
import type { Question, WouldDo } from './lib/types'

const fixtures = import.meta.glob<Fixture>('./fixtures/*.json', { eager: true, import: 'default' })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

const settle = () => vi.advanceTimersByTimeAsync(20)
const look = () => vi.advanceTimersByTimeAsync(500)

async function open(backend: Fake) {
  const page = render(App, { backend })
  await settle()
  await look()
  return page
}

const show = async (...waiting: Question[]) => {
  const backend = host(...waiting)
  return { backend, ...(await open(backend)) }
}

function press(key: string, how: KeyboardEventInit = {}) {
  const target = document.activeElement ?? document.body
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...how })
  target.dispatchEvent(event)
  return event
}

const ctrl = { ctrlKey: true }

/** The value of a fact, as it is read. */
const fact = (container: HTMLElement, name: string) =>
  [...container.querySelectorAll('dt')].find((dt) => dt.textContent === name)?.nextElementSibling?.textContent?.trim()

describe('the panel', () => {
  test('has Deny in focus, and the answers first in the order of the keyboard', async () => {
    const { container, getByRole } = await show(question('a'), question('b'))
    expect(document.activeElement).toBe(getByRole('button', { name: 'Deny' }))
    const stops = [...container.querySelectorAll<HTMLElement>('button, input, [tabindex="0"]')].map((e) => e.getAttribute('aria-label') ?? e.textContent!.trim())
    expect(stops.slice(0, 7).map((s) => s.replace(/\s*(esc|[⌃⌘]O)$/, ''))).toEqual(['Deny', 'Deny for…', 'Tell the agent why', 'Allow once', 'Always allow…', 'Previous question', 'Next question'])
  })

  test('is an alert with the question as its name', async () => {
    const { getByRole } = await show(question('a', { reason: 'allowlist-miss', asking: 1, passing: 2, program: 'git rebase' }))
    const panel = getByRole('alertdialog', { name: /May claude-code run git rebase ?\?/ })
    expect(document.getElementById(panel.getAttribute('aria-describedby')!.split(' ')[0]!)?.textContent).toBe(
      'No entry covers it. The other two commands pass.',
    )
  })

  test.each([['Deny', 'deny'], ['Allow once', 'allow-once']])('%s answers what is shown', async (name, decision) => {
    const { backend, getByRole } = await show(question('a'))
    getByRole('button', { name }).click()
    await settle()
    expect(calls(backend, 'decide')).toEqual([['a', 'a:1', decision, '']])
  })

  test('ignores a click in the first half second', async () => {
    const backend = host(question('a'))
    const { getByRole } = render(App, { backend })
    await settle()
    for (const name of ['Deny', 'Allow once', 'Always allow…']) getByRole('button', { name }).click()
    press('Escape')
    press('o', ctrl)
    press('a', ctrl)
    await settle()
    expect(calls(backend, 'decide')).toEqual([])
    expect(getByRole('button', { name: 'Deny' })).toBeTruthy()
  })

  test('sends what was typed with a denial, and takes no key from the field', async () => {
    const { backend, getByRole } = await show(question('a'))
    const field = getByRole('textbox', { name: 'Tell the agent why' }) as HTMLInputElement
    field.focus()
    field.value = 'Not now'
    field.dispatchEvent(new Event('input', { bubbles: true }))
    for (const key of ['Enter', 'o', 'a']) press(key, key === 'Enter' ? {} : ctrl)
    expect(press('a', ctrl).defaultPrevented).toBe(false) // it selects the text
    press('Escape')
    expect(document.activeElement).toBe(getByRole('button', { name: 'Deny' }))
    await settle()
    expect(calls(backend, 'decide')).toEqual([])
    press('Escape')
    await settle()
    expect(calls(backend, 'decide')).toEqual([['a', 'a:1', 'deny', 'Not now']])
  })

  test('keeps Allow once away from the single key when it is risky', async () => {
    const { backend, getByRole } = await show(question('a', { risky: true }))
    press('o', ctrl)
    await settle()
    expect(calls(backend, 'decide')).toEqual([])
    expect(getByRole('button', { name: 'Allow once' }).textContent).not.toContain('O ')
    expect(getByRole('button', { name: 'Allow once' }).hasAttribute('aria-keyshortcuts')).toBe(false)
  })

  test('says what it would do as soon as the host has looked, and the risk at once', async () => {
    const risk = { level: 'medium', reasons: ['rm deletes files here', 'git uses the network'] }
    const backend = host(question('a', { risk }))
    let found = (_: WouldDo) => {}
    backend.wouldDo = () => new Promise((resolve) => (found = resolve))
    const { getByText, queryByText, container } = await open(backend)
    expect(fact(container, 'Risk')).toBe('Medium: rm deletes files here; git uses the network.')
    expect(fact(container, 'Would do')).toBe('Looking…')
    found({ lines: [{ text: 'Deletes', path: 'notes.md', rest: '(1 KB, not in git)' }, { text: 'Uses the network: git' }] })
    await settle()
    expect(queryByText('Looking…')).toBeNull()
    expect(fact(container, 'Would do')).toBe('Deletes notes.md (1 KB, not in git)Uses the network: git')
    expect(getByText('notes.md').closest('.mono')).toBeTruthy()
  })

  test.each([
    ['has nothing to say', () => Promise.resolve({ lines: [] })],
    ['fails', () => Promise.reject(new Error('gone'))],
  ])('says that it is not known when the host %s', async (_, wouldDo) => {
    const backend = host(question('a', { risk: { level: 'high', reasons: [] } }))
    backend.wouldDo = wouldDo
    const { container } = await open(backend)
    expect(fact(container, 'Would do')).toBe('Not known')
    expect(fact(container, 'Risk')).toBe('High')
  })

  test('never shows what another question would do', async () => {
    const backend = host(question('a'), question('b'))
    const found: Record<string, (w: WouldDo) => void> = {}
    backend.wouldDo = (id) => new Promise((resolve) => (found[id] = resolve))
    const { container, getByRole } = await open(backend)
    getByRole('button', { name: 'Next question' }).click()
    await settle()
    found.a!({ lines: [{ text: 'of a' }] })
    await settle()
    expect(fact(container, 'Would do')).toBe('Looking…')
    found.b!({ lines: [{ text: 'of b' }] })
    await settle()
    expect(fact(container, 'Would do')).toBe('of b')
    found.a!({ lines: [{ text: 'of a' }] })
    await settle()
    expect(fact(container, 'Would do')).toBe('of b')
  })

  test('says what is not offered and why', async () => {
    const { queryByRole, getByText } = await show(question('a', { always: [], notAlways: 'nameless', allowOnce: false }))
    expect(queryByRole('button', { name: /Allow/ })).toBeNull()
    expect(getByText(/entries belong to an agent/)).toBeTruthy()
  })

  test('says why an answer did not count', async () => {
    const { backend, getByRole } = await show(question('a'))
    backend.answered = { ok: false, message: 'The question changed.' }
    getByRole('button', { name: 'Allow once' }).click()
    await settle()
    expect(getByRole('alert').textContent).toBe('The question changed.')
  })

  test('shows text of the host as text only', async () => {
    const evil = '<img src=x onerror=alert(1)>'
    const { container } = await show(
      question('a', {
        agent: { id: 'x', name: evil, initial: '<', color: 1 }, session: evil, node: evil, peer: `/bin/${evil}`, folder: evil, program: evil,
        shell: evil, claims: [evil], reason: evil, sentence: evil, env: [{ name: evil, value: evil, was: false, secret: false, danger: true }],
        runs: [{ segment: 0, verdict: 'ask', word: evil, path: evil, real: evil, interpreter: evil, dir: evil, sentence: evil, reason: evil }],
      }),
    )
    expect(container.querySelector('img, script, a')).toBeNull()
    expect(container.textContent!.split(evil).length).toBeGreaterThan(12)
  })

  test('never shows the value of a secret, and says that it does not', async () => {
    const env = [{ name: 'TOKEN', value: 'hunter2', was: false, secret: true, danger: false }]
    const { container, getByText } = await show(question('a', { env }))
    expect(container.innerHTML).not.toContain('hunter2')
    expect(getByText('not shown')).toBeTruthy()
  })
})

describe('a yes that is remembered', () => {
  const remembered = async () => {
    const page = await show(question('a', { widths, keeps: ['good', '10m', '1h', 'session', 'next5'] }))
    page.backend.fixture.replay = [
      { width: 'exact', here: false, looked: 1000, allowed: 3, yes: 2, denied: 0, complete: true },
      { width: 'words', here: true, looked: 7, allowed: 2, yes: 2, denied: 0, complete: true },
      { width: 'program', here: false, looked: 1000, allowed: 38, yes: 2, denied: 1, riskiest: 'lint --all', complete: true },
    ]
    page.getByRole('button', { name: 'Always allow…' }).click()
    await look()
    return page
  }

  test('starts with the narrowest width, for good, and says what each means', async () => {
    const { getByRole, container } = await remembered()
    const radios = [...container.querySelectorAll<HTMLInputElement>('.widths input')]
    expect(radios.map((r) => r.checked)).toEqual([true, false, false])
    const exact = getByRole('radio', { name: 'This exact command, here' })
    expect(document.getElementById(exact.getAttribute('aria-describedby')!)!.textContent).toMatch(/Would have allowed 3 of your last 1,000 requests\./)
    const any = getByRole('radio', { name: 'Any lint command' })
    const said = document.getElementById(any.getAttribute('aria-describedby')!)!.textContent!
    expect(said).toMatch(/38 of your last 1,000 requests; one of them you denied; the riskiest: lint --all\./)
    expect(said).toContain('Wide: nothing is known of what its arguments do.')
    expect(getByRole('radio', { name: 'For good' }).getAttribute('aria-checked')).toBe('true')
  })

  test('what was allowed three times is said on the question, and suggested in its own step', async () => {
    const some = widths.map((w) => (w.width === 'words' ? { ...w, suggested: true, here: true } : w))
    const page = await show(question('x'))
    page.backend.fixture.replay = [{ width: 'words', here: true, looked: 7, allowed: 3, yes: 3, denied: 0, complete: true }]
    replace(page.backend, question('a', { widths: some, stillAsks: ['rm deletes "/etc/x"'] }))
    await look()
    await settle()
    expect(page.container.querySelector('#panel-why')!.textContent).toContain('You allowed lint --fix 3 times. Always allow… suggests a rule.')
    page.getByRole('button', { name: 'Always allow…' }).click()
    await look()
    expect(page.container.textContent).toContain('You allowed lint --fix 3 times: allow it in this project?')
    expect(page.container.textContent).toContain('Asks again all the same: rm deletes "/etc/x"')
    expect([...page.container.querySelectorAll<HTMLInputElement>('.widths input')].map((r) => r.checked)).toEqual([false, true, false])
    page.getByRole('button', { name: /save and allow/ }).click()
    await settle()
    expect(calls(page.backend, 'remember')).toEqual([['a', 'a:1', 'words', true, 'good']])
  })

  test('saves what was chosen, and nothing before', async () => {
    const { backend, getByRole } = await remembered()
    getByRole('radio', { name: 'Any lint --fix' }).click()
    await settle()
    getByRole('checkbox', { name: 'Only in ~/p' }).click()
    await settle()
    getByRole('radio', { name: '1 hour' }).click()
    await settle()
    expect(backend.calls.filter(([name]) => name === 'remember' || name === 'decide')).toEqual([])
    getByRole('button', { name: /save and allow/ }).click()
    await settle()
    expect(calls(backend, 'remember')).toEqual([['a', 'a:1', 'words', true, '1h']])
  })

  test('a start is the last row, not chosen, and allowed as a whole', async () => {
    const page = await show(question('a', { widths, keeps: ['good', '10m', '1h', 'session', 'next5'] }))
    page.backend.fixture.startFor = { start: 'project-commands', folder: '~/p', name: 'p', rules: 74 }
    page.getByRole('button', { name: 'Always allow…' }).click()
    await look()
    const radios = [...page.container.querySelectorAll<HTMLInputElement>('.widths input')]
    expect(radios.map((r) => r.checked)).toEqual([true, false, false, false])
    const row = page.getByRole('radio', { name: 'Project commands' })
    expect(document.getElementById(row.getAttribute('aria-describedby')!)!.textContent).toMatch(/They run what its files say\. *74 rules in ~\/p, for good\./)
    row.click()
    await settle()
    expect(page.queryByRole('radio', { name: '1 hour' })).toBeNull()
    page.getByRole('button', { name: /save and allow/ }).click()
    await settle()
    expect(calls(page.backend, 'remember')).toEqual([])
    expect(calls(page.backend, 'takeStartFor')).toEqual([['a', 'a:1', 'project-commands']])
  })

  test('a start whose commands were allowed often enough is the first row, and chosen', async () => {
    const some = widths.map((w) => (w.width === 'words' ? { ...w, suggested: true, here: true } : w))
    const page = await show(question('x'))
    page.backend.fixture.startFor = { start: 'developer-tools', folder: '~/p', name: 'p', rules: 268, times: 3 }
    replace(page.backend, question('a', { widths: some }))
    await look()
    await settle()
    expect(page.container.querySelector('#panel-why')!.textContent).toContain('You allowed 3 commands that only read. Always allow… suggests a rule.')
    page.getByRole('button', { name: 'Always allow…' }).click()
    await look()
    expect(page.container.textContent).toContain('You allowed 3 commands that only read: allow all that only read in this project?')
    expect([...page.container.querySelectorAll<HTMLInputElement>('.widths input')].map((r) => r.checked)).toEqual([true, false, false, false])
    page.getByRole('button', { name: /save and allow/ }).click()
    await settle()
    expect(calls(page.backend, 'takeStartFor')).toEqual([['a', 'a:1', 'developer-tools']])
  })

  test('a start that is told of late does not move what stands there', async () => {
    const page = await show(question('a', { widths, keeps: ['good'] }))
    page.backend.fixture.startFor = { start: 'developer-tools', folder: '~/p', name: 'p', rules: 268, times: 3 }
    page.getByRole('button', { name: 'Always allow…' }).click()
    await look()
    expect([...page.container.querySelectorAll<HTMLInputElement>('.widths input')].map((r) => r.checked)).toEqual([true, false, false, false])
    expect(page.getByRole('radio', { name: 'Reading commands' })).toBeTruthy()
  })

  test('the folder goes with the width that has none', async () => {
    const { backend, getByRole, queryByRole } = await remembered()
    getByRole('radio', { name: 'Any lint --fix' }).click()
    await settle()
    getByRole('checkbox', { name: 'Only in ~/p' }).click()
    await settle()
    getByRole('radio', { name: 'This exact command, here' }).click()
    await settle()
    expect(queryByRole('checkbox', { name: /Only in/ })).toBeNull()
    getByRole('button', { name: /save and allow/ }).click()
    await settle()
    expect(calls(backend, 'remember')).toEqual([['a', 'a:1', 'exact', false, 'good']])
  })

  test('is not offered for a while where it is not offered for good', async () => {
    const { queryByRole } = await show(question('a', { widths: [] }))
    expect(queryByRole('button', { name: /Allow for/ })).toBeNull()
  })
})

test.each(['ask', 'always', 'ended'])('who asks is said in full where the name is not all of it: %s', async (view) => {
  const agent = { id: 'x', name: 'Helper', full: 'northern-lights-07', initial: 'H', color: 1 }
  const { getByRole, getByTitle, getByText } = await show(question('a', { agent, ...(view === 'ended' ? { ended: { reason: 'prompt-expired', at: 1 } } : {}) }))
  if (view === 'always') {
    press('a', ctrl)
    await settle()
  }
  expect(getByTitle('northern-lights-07').textContent).toBe('Helper')
  expect(getByText('Agent').nextElementSibling?.textContent).toBe('northern-lights-07')
  expect(getByRole('alertdialog').querySelector('.panel-who')?.textContent).toContain('northern-lights-07')
})

describe('Always allow…', () => {
  test('shows what would be saved, and control-a never commits', async () => {
    const { backend, getByRole, getByText } = await show(question('a'))
    press('a', ctrl)
    await look()
    expect(document.activeElement).toBe(getByRole('button', { name: 'Back' }))
    expect(getByText('/usr/bin/lint', { normalizer: (s) => s })).toBeTruthy()
    for (let i = 0; i < 3; i++) press('a', ctrl)
    press('o', ctrl)
    await look()
    expect(calls(backend, 'decide')).toEqual([])
    getByRole('button', { name: 'Always allow: save and allow' }).click()
    await settle()
    expect(calls(backend, 'decide')).toEqual([['a', 'a:1', 'allow-always', '']])
  })

  test('escape goes back and denies nothing', async () => {
    const { backend, getByRole } = await show(question('a'))
    getByRole('button', { name: 'Always allow…' }).click()
    await look()
    press('Escape')
    press('Escape') // it was meant for the same thing
    await settle()
    expect(document.activeElement).toBe(getByRole('button', { name: 'Deny' }))
    expect(calls(backend, 'decide')).toEqual([])
  })
})

test('a question that ends turns into that in place, and a late key does nothing', async () => {
  const { backend, getByRole, queryByRole } = await show(question('a'))
  replace(backend, ended('a'))
  await settle()
  press('Escape')
  press('o', ctrl)
  await settle()
  expect(getByRole('heading', { level: 1 }).textContent).toContain('stopped waiting')
  expect(queryByRole('button', { name: /Allow once|Always allow|Deny/ })).toBeNull()
  expect(document.activeElement).toBe(getByRole('button', { name: 'Close' }))
  await look()
  press('Escape')
  await settle()
  expect(calls(backend, 'decide')).toEqual([])
  expect(calls(backend, 'dismiss')).toEqual([['a']])
  expect(queryByRole('alertdialog')).toBeNull()
})

test('time that ran out is no denial by a person', async () => {
  const { getByRole } = await show(ended('a', 'prompt-expired'))
  expect(getByRole('heading', { level: 1 }).textContent!.trim()).toBe('Time ran out')
})

test('a question that is withdrawn goes, and the next one comes with Deny in focus', async () => {
  const { backend, getByRole } = await show(question('a', { program: 'first' }), question('b', { program: 'second' }))
  getByRole('textbox').focus()
  replace(backend, question('b', { program: 'second' }))
  await settle()
  expect(getByRole('heading', { level: 1 }).textContent).toContain('second')
  expect(document.activeElement).toBe(getByRole('button', { name: 'Deny' }))
})

test('what is typed and where stays when another question comes', async () => {
  const { backend, getByRole } = await show(question('a'))
  const field = getByRole('textbox') as HTMLInputElement
  field.focus()
  field.value = 'because'
  field.dispatchEvent(new Event('input', { bubbles: true }))
  replace(backend, question('b'), question('a'))
  await settle()
  expect(document.activeElement).toBe(field)
  expect(field.value).toBe('because')
})

test('the panel covers the settings, which stay as they are', async () => {
  const backend = fake(structuredClone(fixtures['./fixtures/panel-over-settings.json']!))
  const waiting = backend.fixture.screen.waiting
  backend.fixture.screen = { ...backend.fixture.screen, waiting: [] }
  const { container, queryByRole } = await open(backend)
  const under = container.querySelector('.sheet-under')!
  const inside = under.firstElementChild
  replace(backend, ...waiting)
  await settle()
  expect(queryByRole('alertdialog')).not.toBeNull()
  expect(under.getAttribute('aria-hidden')).toBe('true')
  expect((under as HTMLElement).inert).toBe(true)
  replace(backend)
  await settle()
  expect(queryByRole('alertdialog')).toBeNull()
  expect(container.querySelector('.sheet-under')).toBe(under)
  expect(under.firstElementChild).toBe(inside)
  expect((under as HTMLElement).inert).toBe(false)
})

test('the settings stay covered while the next question is on its way', async () => {
  const backend = fake(structuredClone(fixtures['./fixtures/panel-over-settings.json']!))
  const [a, b] = [question('a'), question('b')]
  backend.fixture.screen = { ...backend.fixture.screen, waiting: [a, b] }
  const { container, getByRole, queryByRole } = await open(backend)
  const screen = backend.screen
  let go = () => {}
  backend.screen = (want) => new Promise((done) => (go = () => done(screen(want))))
  getByRole('button', { name: 'Deny' }).click()
  await settle()
  const under = container.querySelector<HTMLElement>('.sheet-under')!
  expect(queryByRole('alertdialog')).toBeNull()
  expect([under.inert, container.querySelector('.sheet-over') !== null]).toEqual([true, true])
  backend.fixture.screen = { ...backend.fixture.screen, waiting: [b] }
  go()
  await settle()
  expect(queryByRole('alertdialog')).not.toBeNull()
  expect(under.inert).toBe(true)
})

test.each([['system', undefined], ['light', 'light'], ['dark', 'dark']])('theme %s', async (theme, want) => {
  const backend = host(question('a'))
  backend.fixture.screen = { ...backend.fixture.screen, theme }
  await open(backend)
  expect(document.documentElement.dataset.theme).toBe(want)
})

describe('axe finds nothing on', () => {
  const panels = Object.entries(fixtures).filter(([name]) => name.includes('/panel'))
  test.each(panels)('%s', async (_, fixture) => {
    const { container } = await open(fake(fixture))
    vi.useRealTimers()
    const found = await axe.run(container, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } })
    expect(found.violations.map((v) => `${v.id}: ${v.nodes[0]?.html}`)).toEqual([])
  })
})

describe('a change that a terminal wants', () => {
  const wanted = (settings = false, name = 'panel-terminal') => {
    const fixture = structuredClone(fixtures[`./fixtures/${name}.json`]!)
    return fake({ ...fixture, screen: { ...fixture.screen, settings } })
  }
  const answers = (backend: Fake) => calls(backend, 'answerChange')

  test('names who wants it, shows each line with a word, and what undoes apart', async () => {
    const { getByRole, getByText } = await open(wanted())
    expect(getByRole('alertdialog', { name: /^zsh in Terminal wants to change your rules/ })).toBeTruthy()
    expect(getByText(text.heed)).toBeTruthy()
    const lines = getByRole('list', { name: text.lines })
    const parts = (of: Element) => ['.change-agent', '.change-what', '.change-word'].map((part) => of.querySelector(part)?.textContent.trim().replace(/\s+/g, ' '))
    expect([...lines.querySelectorAll('li')].map(parts)).toEqual([
      ['codex', 'Mode: Ask always →to Ask when needed', text.word.looser], ['codex', 'Adds rule: /usr/bin/npm run and anything after it', text.word.looser],
      ['Every agent', 'Adds filter: jq', text.word.looser], ['codex', 'Adds denial: git push and anything after it', text.word.inForce],
    ])
    const undoes = getByRole('group', { name: text.undoes })
    expect(parts(undoes)).toEqual(['Every agent', 'Removes denial: curl with any arguments', text.word.undoes])
    expect(undoes.textContent).toContain('This terminal added it 1 minute ago. Accepting takes it back.')
    expect(getByText(text.high)).toBeTruthy()
    expect(getByText(text.sum(3, 1, 1))).toBeTruthy()
  })

  test('folds a long one but what undoes, and cannot be accepted before it was opened', async () => {
    const backend = wanted(false, 'panel-terminal-many')
    const { getByRole, getByText, queryByText } = await open(backend)
    const yes = getByRole('button', { name: text.accept(10) }) as HTMLButtonElement
    const items = () => getByRole('list', { name: text.lines }).querySelectorAll('li')
    expect([items().length, yes.disabled]).toEqual([7, true])
    expect(getByText(text.tighter(2, true))).toBeTruthy()
    expect(getByRole('group', { name: text.undoes })).toBeTruthy()
    yes.click()
    const fold = getByRole('button', { name: text.unfold(4) })
    fold.focus()
    expect(press('Enter').defaultPrevented).toBe(false)
    fold.click()
    await settle()
    expect([items().length, yes.disabled, queryByText(text.readAll)]).toEqual([11, false, null])
    expect(document.activeElement).toBe(items()[5])
    expect(answers(backend)).toEqual([])
    yes.click()
    await settle()
    expect(answers(backend)).toEqual([['change:5f1d', true]])
  })

  test('shows values, what narrows a rule and sentences whole, and counts no sentence', async () => {
    const fixture = structuredClone(fixtures['./fixtures/panel-terminal.json']!)
    const lines = fixture.screen.change!.lines
    const [mode, rule] = lines
    const more = 'the file /usr/bin/npm (sha256 00), instead of /usr/bin/npm run'
    fixture.screen.change!.lines = [
      { word: 'looser', kind: 'other', text: 'The charter work forbids nothing' },
      { ...mode!, more: 'so what was denied is asked about' }, { ...rule!, changes: true, more },
      { word: 'looser', agent: rule!.agent!, kind: 'value', name: 'tools.deny', was: '["t"]', is: '[]' },
    ]
    const { getByRole, getByText } = await open(fake(fixture))
    const items = [...getByRole('list', { name: text.lines }).querySelectorAll('.change-what')].map((li) => li.textContent.trim().replace(/\s+/g, ' '))
    expect(items).toEqual([
      'The charter work forbids nothing', 'Mode: Ask always →to Ask when needed so what was denied is asked about',
      `Changes rule: /usr/bin/npm run and anything after it ${more}`, 'tools.deny: ["t"] →to []',
    ])
    expect(getByText(text.sum(3, 0, 0))).toBeTruthy()
    expect(getByRole('button', { name: text.accept(3) })).toBeTruthy()
  })

  test('has no key for a yes, and Deny has the focus', async () => {
    const backend = wanted()
    const { getByRole } = await open(backend)
    const yes = getByRole('button', { name: 'Accept 4 changes' })
    expect(document.activeElement).toBe(getByRole('button', { name: 'Deny' }))
    expect(yes.hasAttribute('aria-keyshortcuts')).toBe(false)
    yes.focus()
    for (const key of ['Enter', 'o', 'a']) press(key, key === 'Enter' ? {} : ctrl)
    expect(press('Enter').defaultPrevented).toBe(true)
    await settle()
    expect(answers(backend)).toEqual([])
    yes.click() // as Space does
    await settle()
    expect(answers(backend)).toEqual([['change:5f1d', true]])
  })

  test('counts nothing in the first half second, then Escape says no', async () => {
    const backend = wanted()
    const { getByRole, queryByRole } = render(App, { backend })
    await settle()
    getByRole('button', { name: 'Accept 4 changes' }).click()
    press('Escape')
    await settle()
    expect(answers(backend)).toEqual([])
    await look()
    press('Escape', { repeat: true })
    press('Escape')
    await settle()
    expect(answers(backend)).toEqual([['change:5f1d', false]])
    expect(queryByRole('alertdialog')).toBeNull()
  })

  test('cannot be accepted before each looser line was on the screen', async () => {
    const observers: ((entries: { isIntersecting: boolean }[]) => void)[] = []
    vi.stubGlobal('IntersectionObserver', class {
      constructor(f: (typeof observers)[number]) {
        observers.push(f)
      }
      observe() {}
      disconnect() {}
    })
    try {
      const backend = wanted()
      const { getByRole } = await open(backend)
      const yes = getByRole('button', { name: 'Accept 4 changes' }) as HTMLButtonElement
      expect(yes.disabled).toBe(true)
      expect(observers.length).toBe(4)
      for (const f of observers) {
        expect(yes.disabled).toBe(true)
        f([{ isIntersecting: true }])
        await settle()
      }
      expect(yes.disabled).toBe(false)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test('covers the settings, and the host knows what is on the page', async () => {
    const backend = wanted(true)
    const { container } = await open(backend)
    expect(calls(backend, 'ready').at(-1)?.[0]).toBe('change:5f1d')
    expect((container.querySelector('.sheet-under') as HTMLElement).inert).toBe(true)
    expect(container.querySelector('.sheet-over')).not.toBeNull()
  })

  test('goes when its terminal goes, and the question behind it comes back', async () => {
    const backend = wanted()
    const { queryByRole, getByRole } = await open(backend)
    backend.fixture.screen = { ...backend.fixture.screen, change: undefined, waiting: [question('a')] }
    backend.tell('screen')
    await settle()
    expect(queryByRole('button', { name: /^Accept/ })).toBeNull()
    expect(getByRole('alertdialog', { name: /^May / })).toBeTruthy()
    expect(calls(backend, 'ready').at(-1)?.[0]).toBe('a')
  })

  test('says why an answer did not count, and stays', async () => {
    const backend = wanted()
    backend.answered = { ok: false, message: 'This is over.' }
    const { getByRole } = await open(backend)
    getByRole('button', { name: 'Accept 4 changes' }).click()
    await settle()
    expect(getByRole('alert').textContent).toBe('This is over.')
  })
})

describe('an edit of the policy file from outside', () => {
  const edited = () => fake(structuredClone(fixtures['./fixtures/panel-edit.json']!))
  const answers = (backend: Fake) => calls(backend, 'answerEdit')

  test('is an alert that keeps by Escape, once it was in sight', async () => {
    const backend = edited()
    const { getByRole } = render(App, { backend })
    await settle()
    press('Escape')
    await settle()
    expect(answers(backend)).toEqual([])
    expect(getByRole('alertdialog', { name: 'Something changed the policy file' })).toBeTruthy()
    expect(document.activeElement).toBe(getByRole('button', { name: 'Keep as it was' }))
    await look()
    press('Escape', { repeat: true })
    press('Escape')
    await settle()
    expect(answers(backend)).toEqual([['5f1d', false]])
  })

  test('tells the host what is on the page, and takes it by its button only', async () => {
    const backend = edited()
    const { getByRole, queryByRole } = await open(backend)
    expect(calls(backend, 'ready').at(-1)?.[0]).toBe('edit:5f1d')
    press('o', ctrl)
    press('Enter', ctrl)
    await settle()
    expect(answers(backend)).toEqual([])
    getByRole('button', { name: 'Take the change' }).click()
    await settle()
    expect(answers(backend)).toEqual([['5f1d', true]])
    expect(queryByRole('alertdialog')).toBeNull()
  })

  test('can be left to the settings', async () => {
    const backend = edited()
    const { getByRole, queryByRole } = await open(backend)
    getByRole('button', { name: 'Later' }).click()
    await settle()
    expect(calls(backend, 'leaveEdit')).toHaveLength(1)
    expect(answers(backend)).toEqual([])
    expect(queryByRole('alertdialog')).toBeNull()
  })

  test('makes room for a question and comes back after it', async () => {
    const backend = edited()
    const { getByRole } = await open(backend)
    replace(backend, question('a'))
    await settle()
    expect(getByRole('alertdialog', { name: /^May / })).toBeTruthy()
    replace(backend)
    await settle()
    getByRole('button', { name: 'Take the change' }).click()
    await settle()
    expect(answers(backend)).toEqual([]) // it had just come back
    await look()
    getByRole('button', { name: 'Take the change' }).click()
    await settle()
    expect(answers(backend)).toEqual([['5f1d', true]])
  })

  test('says why an answer did not count, and stays', async () => {
    const backend = edited()
    backend.saved = { ok: false, message: 'This had just changed.' }
    const { getByRole } = await open(backend)
    getByRole('button', { name: 'Take the change' }).click()
    await settle()
    expect(getByRole('alert').textContent).toBe('This had just changed.')
  })

  test('is not over the settings, which show it themselves', async () => {
    const backend = edited()
    backend.fixture.screen = { ...backend.fixture.screen, settings: true }
    const { queryByRole } = await open(backend)
    expect(queryByRole('alertdialog')).toBeNull()
    expect(calls(backend, 'ready')).toEqual([])
  })
})

describe('a folder that may be a project', () => {
  const asked = (name = 'panel-folder', settings = false) => {
    const fixture = structuredClone(fixtures[`./fixtures/${name}.json`]!)
    return fake({ ...fixture, screen: { ...fixture.screen, settings } })
  }
  const answers = (backend: Fake) => calls(backend, 'answerFolder')

  test('names the folder, and what each answer means', async () => {
    const { getByRole, getByText } = await open(asked())
    expect(getByRole('alertdialog', { name: /^Is ~\/Work\/ledger a project of yours\?/ })).toBeTruthy()
    expect(getByText(folderText.why('claude-code'))).toBeTruthy()
    expect(getByText(folderText.closesIn, { exact: false })).toBeTruthy()
    const means = (name: string) => document.getElementById(getByRole('button', { name }).getAttribute('aria-describedby')!)?.textContent
    expect([folderText.no, folderText.yesEvery, folderText.yesAgent].map(means)).toEqual([folderText.noMeans, folderText.everyMeans, folderText.agentMeans('claude-code')])
  })

  test('has no key for a yes, the focus is on the no, and Escape is it', async () => {
    const backend = asked()
    const { getByRole } = await open(backend)
    expect(document.activeElement).toBe(getByRole('button', { name: folderText.no }))
    const yes = getByRole('button', { name: folderText.yesAgent })
    yes.focus()
    for (const key of ['Enter', 'o', 'a']) press(key, key === 'Enter' ? {} : ctrl)
    await settle()
    expect(answers(backend)).toEqual([])
    press('Escape')
    await settle()
    expect(answers(backend)).toEqual([['folder:5f1d', 'no']])
  })

  test.each([['agent', folderText.yesAgent], ['every', folderText.yesEvery]])('%s', async (answer, name) => {
    const backend = asked()
    const { getByRole, queryByRole } = await open(backend)
    getByRole('button', { name }).click()
    await settle()
    expect(answers(backend)).toEqual([['folder:5f1d', answer]])
    expect(queryByRole('alertdialog')).toBeNull()
  })

  test('counts nothing in the first half second', async () => {
    const backend = asked()
    const { getByRole } = render(App, { backend })
    await settle()
    getByRole('button', { name: folderText.yesAgent }).click()
    press('Escape')
    await settle()
    expect(answers(backend)).toEqual([])
  })

  test('is for one agent at most where it holds other projects', async () => {
    const { getByText, queryByRole } = await open(asked('panel-folder-holds'))
    expect(getByText(folderText.holds(6))).toBeTruthy()
    expect(getByText(folderText.medium)).toBeTruthy()
    expect(queryByRole('button', { name: folderText.yesEvery })).toBeNull()
  })

  test('tells what it holds, and more where that is wanted', async () => {
    const { getByRole, getByText, queryByText } = await open(asked())
    expect(getByText(folderText.files(214, false))).toBeTruthy()
    expect(getByText(folderText.noGit(214), { exact: false })).toBeTruthy()
    expect(queryByText('notes.txt')).toBeNull()
    const more = getByRole('button', { name: new RegExp(folderText.more) })
    expect(more.getAttribute('aria-expanded')).toBe('false')
    more.click()
    await settle()
    expect(more.getAttribute('aria-expanded')).toBe('true')
    expect(getByText('notes.txt')).toBeTruthy()
    expect(getByText(folderText.said('codex', false))).toBeTruthy()
  })

  test('says of an agent that asks always what a project still changes', async () => {
    const backend = asked()
    backend.fixture.screen.folder!.strict = true
    const { getByText, queryByText } = await open(backend)
    expect(getByText(folderText.meansStrict('claude-code'))).toBeTruthy()
    expect(queryByText(folderText.reads)).toBeNull()
  })

  test('covers the settings, and the host knows what is on the page', async () => {
    const backend = asked('panel-folder', true)
    const { container } = await open(backend)
    expect(calls(backend, 'ready').at(-1)?.[0]).toBe('folder:5f1d')
    expect((container.querySelector('.sheet-under') as HTMLElement).inert).toBe(true)
  })
})
