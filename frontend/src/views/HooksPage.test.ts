import { cleanup, render, screen } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test } from 'vitest'
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
