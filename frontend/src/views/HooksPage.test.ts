import { cleanup, fireEvent, render, screen } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test, vi } from 'vitest'
import agents from '../fixtures/agents.json'
import type { Fixture } from '../lib/backend.fake'
import type { HookChange } from '../lib/types'
import HooksPage from './HooksPage.svelte'

afterEach(cleanup)

const { hooks = [], hookChange } = agents as unknown as Fixture
const nothing = { onlook: () => {}, onplan: () => {}, onapply: () => {}, ontry: () => {}, oncancel: () => {} }
const open = (change?: HookChange) => render(HooksPage, { hooks, change, ...nothing })

test('that every call would be denied is said with the difference, before it can be written', async () => {
  const change = { ...hookChange, agent: 'codex' } as HookChange
  const { container, rerender } = open(change)
  const said = screen.getByText(change.warning ?? 'no warning')
  const write = screen.getByRole('button', { name: 'Write it' })
  expect(said.compareDocumentPosition(write) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy()
  const found = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } })
  expect(found.violations.map((v) => v.id)).toEqual([])
  await rerender({ change: { ...change, warning: undefined } })
  expect(screen.queryByText(/may run nothing/)).toBeNull()
  expect(screen.getByRole('button', { name: 'Write it' })).toBeTruthy()
})

test('what a hook can do, and what is left to do, is told of each agent', () => {
  open()
  expect(screen.getAllByText(/^With the hook: it waits for the answer/)).toHaveLength(hooks.length)
  for (const note of hooks.flatMap((hook) => hook.notes)) expect(screen.getByText(note)).toBeTruthy()
})

test('what is left to do is said once, also while a change is shown that says it', () => {
  open({ ...hookChange, agent: 'codex' } as HookChange)
  expect(screen.getAllByText(/until you trust it/)).toHaveLength(1)
})

test('a hook that is gone for good can be left out, and nothing is written for that', async () => {
  const onapply = vi.fn()
  const onplan = vi.fn()
  const change = { id: 'c2', agent: 'gemini', undo: true, forgets: true, diff: [], notes: [] } as HookChange
  const { container, rerender } = render(HooksPage, { hooks, ...nothing, onplan, onapply })
  await fireEvent.click(screen.getByRole('button', { name: 'Leave it out… Gemini CLI' }))
  expect(onplan).toHaveBeenCalledWith('gemini', true)
  await rerender({ change })
  expect(screen.getByText(/stay as they are/)).toBeTruthy()
  expect(container.querySelector('.diff')).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: 'Leave it out' }))
  expect(onapply).toHaveBeenCalled()
})

test('hooks of projects that are not as they were left are told of with their agent', () => {
  const { container } = open()
  const notes = [...container.querySelectorAll('.inline-note')].map((n) => n.textContent ?? '')
  expect(notes.filter((n) => n.includes('~/Projects/atlas/.claude/settings.local.json: Gone: it was installed.'))).toHaveLength(1)
})
