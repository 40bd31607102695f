import { cleanup, render, screen, within } from '@testing-library/svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import App from '../App.svelte'
import two from '../fixtures/panel-two-agents.json'
import four from '../fixtures/panel-four-agents.json'
import { fake, type Fake, type Fixture } from '../lib/backend.fake'
import { calls, replace } from '../lib/sample'
import { panel } from '../lib/text'
import type { Question } from '../lib/types'

class Observer { observe() {} unobserve() {} disconnect() {} }
vi.stubGlobal('ResizeObserver', Observer) // jsdom has none

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-03-21T14:02:41Z') }))
afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

async function shown(fixture: unknown): Promise<Fake> {
  const backend = fake(fixture as Fixture)
  render(App, { props: { backend } })
  await vi.advanceTimersByTimeAsync(600)
  return backend
}

const asked = (fixture: unknown) => (fixture as Fixture).screen.waiting[0]!
const button = (name: string | RegExp) => screen.getByRole('button', { name })
const words = (e: Element) => e.textContent!.replace(/\s+/g, ' ').trim()

test('the panel names both, and each row begins with its agent', async () => {
  await shown(two)
  const dialog = screen.getByRole('alertdialog', { name: 'claude-code and codex ask the same' })
  expect(words(screen.getByRole('heading', { level: 1 }))).toBe('May claude-code and codex run head?')
  const rows = within(screen.getByRole('region', { name: panel.sharers })).getAllByRole('listitem')
  expect(rows.map((row) => [...row.children].filter((e) => !e.hasAttribute('aria-hidden')).map(words).slice(0, 3))).toEqual([
    ['claude-code', 'Session main', '1:42 left'], ['codex', 'claims security=full · Session nightly', '1:12 left'],
  ])
  expect(words(dialog.querySelector('.clock')!)).toContain('1:12')
  expect(screen.queryByRole('button', { name: panel.deny })).toBeNull()
})

test.each([
  ['deny both', () => button(/^Deny both/).click(), 'deny'],
  ['allow both', () => button(/^Allow both once/).click(), 'allow-once'],
])('%s is one answer to what was shown of both', async (_, press, decision) => {
  const backend = await shown(two)
  press()
  await vi.advanceTimersByTimeAsync(0)
  const q = asked(two)
  expect(calls(backend, 'decide')).toEqual([[q.id, q.seen, decision, '']])
  expect(q.seen.split(',')).toHaveLength(2)
})

test('three that wait, and one that has ended', async () => {
  await shown(four)
  expect(words(screen.getByRole('heading', { level: 1 }))).toBe('May 3 agents run head?')
  button(/^Deny all 3/)
  button(/^Allow all 3 once/)
  const rows = within(screen.getByRole('region', { name: panel.sharers })).getAllByRole('listitem')
  expect(words(rows[2]!)).toContain(panel.needsYou)
  expect(words(rows[3]!)).toMatch(/gemini .*Ended$/)
  expect(within(rows[3]!).queryByRole('button')).toBeNull()
})

test('an answer for a time is one yes, and one to deny for a time is one for each', async () => {
  const backend = await shown(two)
  button(panel.longer).click()
  await vi.advanceTimersByTimeAsync(600)
  screen.getByRole('menuitem', { name: '1 hour' }).click()
  await vi.advanceTimersByTimeAsync(600)
  const q = asked(two)
  expect(calls(backend, 'remember')).toEqual([[q.id, q.seen, 'exact', false, '1h']])
  replace(backend, { ...q, id: 'next', sharers: q.sharers!.map((s) => ({ ...s, id: `next ${s.id}` })) })
  await vi.advanceTimersByTimeAsync(600)
  button(panel.denyFor).click()
  await vi.advanceTimersByTimeAsync(600)
  screen.getByRole('menuitem', { name: '10 minutes' }).click()
  await vi.advanceTimersByTimeAsync(0)
  expect(calls(backend, 'denyFor')).toEqual(q.sharers!.map((s) => [`next ${s.id}`, '10-minutes', '']))
})

test('the arrow of a row makes it a question of its own', async () => {
  const backend = await shown(two)
  backend.screen = (want) => {
    backend.calls.push(['screen', want])
    return Promise.resolve(backend.fixture.screen)
  }
  button(panel.showQuestion('codex')).click()
  await vi.advanceTimersByTimeAsync(0)
  const codex = asked(two).sharers![1]!.id
  expect(calls(backend, 'takeOut')).toEqual([[codex]])
  expect(calls(backend, 'screen')[0]).toEqual([codex])
})

test('who types goes on typing when another agent comes', async () => {
  const q = asked(two)
  const backend = await shown({ ...two, screen: { ...two.screen, waiting: [{ ...q, seen: 'alone', sharers: undefined }] } })
  const field = screen.getByLabelText(panel.reply)
  field.focus()
  replace(backend, q)
  await vi.advanceTimersByTimeAsync(600)
  button(/^Deny both/)
  expect(document.activeElement).toBe(field)
})

test('for good: it says for whom it is saved, and goes back when others would be', async () => {
  const backend = await shown(two)
  button(panel.longer).click()
  await vi.advanceTimersByTimeAsync(600)
  screen.getByRole('menuitem', { name: panel.always }).click()
  await vi.advanceTimersByTimeAsync(600)
  expect(words(document.querySelector('.not-offered')!)).toBe('Saved for claude-code and codex only')
  expect(calls(backend, 'projectCommands')).toEqual([])
  expect(calls(backend, 'hold')).toEqual(asked(two).sharers!.map((s) => [s.id, true]))
  const q = asked(two)
  replace(backend, { ...q, seen: q.seen.split(',')[0]!.split('=')[1]!, sharers: [q.sharers![0]!, { ...q.sharers![1]!, ended: true }] })
  await vi.advanceTimersByTimeAsync(0)
  button(/^Allow once/)
  expect(screen.queryByRole('button', { name: panel.saveName })).toBeNull()
  expect(words(document.querySelectorAll('.same-row')[1]!)).toMatch(/Ended$/)
})

test('when the first one ends the panel stays with the other, and keeps the reply', async () => {
  const q = asked(two)
  const other = { ...q, id: 'other', sharers: undefined }
  const backend = await shown({ ...two, screen: { ...two.screen, waiting: [q, other] } })
  const field = screen.getByLabelText(panel.reply) as HTMLInputElement
  field.value = 'not now'
  field.dispatchEvent(new Event('input', { bubbles: true }))
  const [first, second] = [q.sharers![0]!, q.sharers![1]!]
  const rest: Question = { ...q, id: second.id, agent: second.agent, seen: q.seen.split(',')[1]!.split('=')[1]!, sharers: [{ ...first, ended: true }, second] }
  replace(backend, rest, other)
  await vi.advanceTimersByTimeAsync(600)
  expect(words(screen.getByRole('heading', { level: 1 }))).toBe('May codex run head?')
  button(/^Allow once/)
  button(panel.deny)
  expect((screen.getByLabelText(panel.reply) as HTMLInputElement).value).toBe('not now')
})
