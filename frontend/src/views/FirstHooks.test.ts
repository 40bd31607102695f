import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test, vi } from 'vitest'
import first from '../fixtures/first-run-hooks.json'
import App from '../App.svelte'
import { fake, type Fixture } from '../lib/backend.fake'
import { firstRun, settings } from '../lib/text'

afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
})

const text = firstRun.hooks
const words = settings.hooks

async function open() {
  const backend = fake(first as unknown as Fixture)
  const page = render(App, { backend })
  await screen.findByText('Codex')
  return { backend, ...page }
}

/** Half a second later, what is pressed counts. */
function later() {
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 501)
}

test('the agents that are here are offered, nothing is chosen, and the way out has the focus', async () => {
  const { backend, container } = await open()
  const list = within(screen.getByRole('list', { name: text.list }))
  expect(list.getAllByRole('heading').map((h) => h.textContent)).toEqual(['Claude Code', 'Codex', 'Copilot CLI', 'Cursor', 'Gemini CLI'])
  expect(list.queryAllByRole('checkbox')).toEqual([])
  expect(list.getByRole('button', { name: 'Install… Copilot CLI' })).toHaveProperty('disabled', true)
  expect(list.queryByRole('button', { name: 'Install… Cursor' })).toBeNull()
  expect(document.activeElement).toBe(screen.getByRole('button', { name: text.skip }))
  const found = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } })
  expect(found.violations.map((v) => v.id)).toEqual([])
  expect(backend.calls).toEqual([])
})

test('a press that was meant for Continue does not skip', async () => {
  const { backend } = await open()
  const skip = screen.getByRole('button', { name: text.skip })
  await fireEvent.click(skip)
  expect(backend.calls).toEqual([])
  later()
  await fireEvent.click(skip)
  await waitFor(() => expect(backend.calls).toEqual([['leaveFirstRun']]))
})

test('the difference is seen before it is written', async () => {
  const { backend, container } = await open()
  await fireEvent.click(screen.getByRole('button', { name: 'Install… Codex' }))
  await waitFor(() => expect(container.querySelectorAll('.diff')).toHaveLength(1))
  expect(backend.calls).toEqual([])
  await fireEvent.click(screen.getByRole('button', { name: words.cancel }))
  expect(container.querySelector('.diff')).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: 'Install… Codex' }))
  await fireEvent.click(await screen.findByRole('button', { name: words.write }))
  await waitFor(() => expect(backend.calls).toEqual([['applyHook', first.hookChange.id]]))
  expect(await screen.findByRole('button', { name: text.done })).toBeTruthy()
  expect(container.querySelector('.diff')).toBeNull()
})

test('what went wrong is said, and can be skipped', async () => {
  const { backend } = await open()
  backend.saved = { ok: false, message: 'The file changed since the difference was shown.' }
  await fireEvent.click(screen.getByRole('button', { name: 'Install… Codex' }))
  await fireEvent.click(await screen.findByRole('button', { name: words.write }))
  expect(await screen.findByText('The file changed since the difference was shown.')).toBeTruthy()
  expect(screen.getByRole('button', { name: text.skip })).toBeTruthy()
})
