import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, expect, test } from 'vitest'
import first from '../fixtures/first-run.json'
import { fake, type Fixture } from '../lib/backend.fake'
import { firstRun as text } from '../lib/text'
import FirstRun from './FirstRun.svelte'

afterEach(cleanup)

async function open() {
  const backend = fake(first as unknown as Fixture)
  const page = render(FirstRun, { backend })
  await screen.findByRole('button', { name: /^Review/ })
  return { backend, ...page }
}

test('asking is what is chosen already, and nothing is sent before Continue', async () => {
  const { backend, container } = await open()
  expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Ask me' }).checked).toBe(true)
  await fireEvent.click(screen.getByRole('radio', { name: 'Developer tools' }))
  await fireEvent.click(screen.getByRole('radio', { name: 'Deny all' }))
  expect(backend.calls).toEqual([])
  await fireEvent.click(screen.getByRole('button', { name: text.next }))
  await waitFor(() => expect(backend.calls).toEqual([['choose', 'deny-all']]))
  const found = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } })
  expect(found.violations.map((v) => v.id)).toEqual([])
})

test('the tools can be looked at before', async () => {
  const { backend } = await open()
  await fireEvent.click(screen.getByRole('button', { name: 'Review the 4 tools…' }))
  const sheet = within(await screen.findByRole('dialog'))
  for (const tool of first.start.tools) {
    expect(sheet.getByTitle(tool.path)).toBeTruthy()
    for (const only of tool.only) expect(sheet.getByText(only)).toBeTruthy()
  }
  await fireEvent.click(sheet.getByRole('button', { name: text.close }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(backend.calls).toEqual([])
})

test('what went wrong is said, and can be tried again', async () => {
  const { backend } = await open()
  backend.saved = { ok: false, message: 'How agents start was chosen already.' }
  await fireEvent.click(screen.getByRole('button', { name: text.next }))
  expect(await screen.findByText('How agents start was chosen already.')).toBeTruthy()
  expect(screen.getByRole('button', { name: text.next })).toHaveProperty('disabled', false)
})
