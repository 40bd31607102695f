import { cleanup, render, screen } from '@testing-library/svelte'
import { afterEach, expect, test } from 'vitest'
import fixture from '../fixtures/panel-project.json'
import { panel } from '../lib/text'
import type { Question } from '../lib/types'
import Facts from './Facts.svelte'

afterEach(cleanup)

const [question] = fixture.screen.waiting as unknown as Question[]

test('the project stands behind the whole folder, in the same fact', async () => {
  const { rerender } = render(Facts, { question: question! })
  const folder = () => (screen.getByText(panel.folder).nextElementSibling?.textContent ?? '').replace(/\s+/g, ' ').trim()
  expect(folder()).toBe('~/Projects/atlas/packages/ingest · project folder atlas')
  await rerender({ question: { ...question!, project: '' } })
  expect(folder()).toBe('~/Projects/atlas/packages/ingest')
})

test('a name in letters that run from right to left stays an island', () => {
  const { container } = render(Facts, { question: { ...question!, project: 'שלום · ~/bank' } })
  expect([...container.querySelectorAll('bdi')].some((b) => b.textContent === 'שלום')).toBe(true)
})
