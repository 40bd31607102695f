import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test } from 'vitest'
import agents from '../fixtures/agents.json'
import { fake, type Fixture } from '../lib/backend.fake'
import { panel, settings, trial as text } from '../lib/text'
import Settings from './Settings.svelte'

afterEach(cleanup)

async function open() {
  const backend = fake(structuredClone(agents) as unknown as Fixture)
  const page = render(Settings, { backend, screen: backend.fixture.screen, covered: false })
  await screen.findByRole('grid')
  await fireEvent.click(screen.getByRole('link', { name: settings.pages.try }))
  const type = (command: string) => fireEvent.input(screen.getByLabelText(text.command), { target: { value: command } })
  return { backend, type, ...page }
}
const calls = (backend: ReturnType<typeof fake>) => backend.calls.filter((c) => c[0] === 'tryCommand').map((c) => c.slice(1))

test('each verdict is said as the panel would show it', async () => {
  const { container, type } = await open()
  expect(screen.getByText(text.nothing)).toBeTruthy()
  for (const [i, title] of ['Would pass', 'Would ask you', 'Would ask you', 'Would be denied'].entries()) {
    const trial = agents.trials[i]!
    await type(trial.question.command.text)
    const result = await screen.findByRole('region', { name: title })
    await waitFor(() => expect(within(result).getByRole('group', { name: panel.command }).textContent).toContain(trial.question.command.text))
    expect(within(result).getByRole('list', { name: panel.runs }).children).toHaveLength(trial.question.runs.length)
    expect(within(result).queryByText(panel.askedByFact)).toBeNull()
    expect(!!within(result).queryByText(text.told)).toBe(title === 'Would be denied')
  }
  const found = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } })
  expect(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])).toEqual([])
})

test('it is judged once nothing more is typed, as the chosen agent in the chosen folder', async () => {
  const { backend, type } = await open()
  for (const typed of ['l', 'li', 'lint src | head -5']) await type(typed)
  await screen.findByText('Would pass')
  expect(calls(backend)).toEqual([['lint src | head -5', 'claude-code', '~']])
  await fireEvent.change(screen.getByLabelText(text.as), { target: { value: 'codex' } })
  await fireEvent.input(screen.getByLabelText(text.folder), { target: { value: '/tmp' } })
  await waitFor(() => expect(calls(backend).at(-1)).toEqual(['lint src | head -5', 'codex', '/tmp']))
  await fireEvent.change(screen.getByLabelText(text.as), { target: { value: '' } })
  await waitFor(() => expect(calls(backend).at(-1)?.[1]).toBe(''))
})

test('only the answer to the last text counts, and what was typed survives another page', async () => {
  const { backend, type } = await open()
  const answers: (() => void)[] = []
  const real = backend.tryCommand
  backend.tryCommand = (...args) => new Promise((done) => answers.push(() => void real(...args).then(done)))
  await type(agents.trials[3]!.question.command.text)
  await waitFor(() => expect(answers).toHaveLength(1))
  await type(agents.trials[0]!.question.command.text)
  await waitFor(() => expect(answers).toHaveLength(2))
  answers[1]!()
  await screen.findByText('Would pass')
  answers[0]!()
  await new Promise((done) => setTimeout(done, 20))
  expect(screen.queryByText('Would be denied')).toBeNull()
  backend.tryCommand = real
  await fireEvent.click(screen.getByRole('link', { name: settings.pages.general }))
  await fireEvent.click(screen.getByRole('link', { name: settings.pages.try }))
  expect(screen.getByLabelText(text.command)).toHaveProperty('value', agents.trials[0]!.question.command.text)
  await type('')
  await waitFor(() => expect(screen.queryByText('Would pass')).toBeNull())
})

test('what cannot be judged is said', async () => {
  const { type } = await open()
  await type('unknown')
  expect((await screen.findByRole('alert')).textContent).toContain('The fixture does not know this command.')
})
