import { cleanup, render } from '@testing-library/svelte'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Fixture } from '../lib/backend.fake'
import type { Command as Text, Piece } from '../lib/types'
import Command from './Command.svelte'

afterEach(cleanup)

const fixtures = Object.entries(import.meta.glob<Fixture>('../fixtures/panel*.json', { eager: true, import: 'default' }))
const questions = fixtures.flatMap(([name, f]) => f.screen.waiting.map((q) => [`${name} ${q.id}`, q] as const))

const linesOf = (root: Element) => [...root.querySelectorAll('.command-line')]

/** A command of words and spaces, as the host would give it. */
function command(text: string, segment = 0): Text {
  const piece = (t: string): Piece => ({ kind: t[0] === ' ' ? 'space' : t.length > 44 ? 'long' : 'word', parts: [{ text: t }], segment, verdict: 'ask' })
  return { text, hidden: false, lines: text.split('\n').map((line) => (line.match(/ +|[^ ]+/g) ?? []).map(piece)) }
}

describe('every character is there', () => {
  test.each(questions)('%s', (_, q) => {
    const { container } = render(Command, { command: q.command, runs: q.runs })
    const lines = linesOf(container).map((line) => line.textContent)
    expect(lines).toEqual(q.command.lines.map((line) => line.flatMap((p) => p.parts.map((part) => part.text)).join('')))
    if (!q.command.text.includes('\t') && !q.command.hidden) expect(lines.join('\n')).toBe(q.command.text)
  })

  const hostile = [
    '<img src=x onerror=alert(1)> <script>alert(1)</script>', '&lt;b&gt; {@html x} ${x}', '  two   spaces  ', 'a\n\n\nb\n',
    'e\u0301 🦞 👩‍👩‍👧 日本語', '/very' + '/long/path'.repeat(50), 'x'.repeat(5000), 'javascript:alert(1) style=x',
  ]
  test.each(hostile)('%s', (text) => {
    const { container } = render(Command, { command: command(text), runs: [] })
    expect(linesOf(container).map((line) => line.textContent).join('\n')).toBe(text)
    const allowed = new Set(['DIV', 'SPAN', 'BDI', 'WBR'])
    expect([...container.querySelectorAll('.command-line *')].filter((e) => !allowed.has(e.tagName))).toEqual([])
  })

  test('60 KB of it', () => {
    const text = 'word --option=/some/path 🦞 "quoted text"\n'.repeat(1500)
    const { container } = render(Command, { command: command(text), runs: [] })
    expect(linesOf(container).map((line) => line.textContent).join('\n')).toBe(text)
  })
})

test('thousands of segments are not thousands of tab stops', () => {
  const lines = Array.from({ length: 3000 }, (_, i) => command('ls -a', i).lines[0]!)
  const runs = lines.map((_, segment) => ({ segment, verdict: 'ask', word: 'ls', path: '/bin/ls', reason: 'allowlist-miss' }))
  const { container } = render(Command, { command: { text: '', hidden: false, lines }, runs })
  expect(container.querySelectorAll('.seg')).toHaveLength(3000)
  expect(container.querySelectorAll('[tabindex]')).toHaveLength(50)
})

test('a segment says its text, its verdict, why, and its path', () => {
  const runs = [{ segment: 0, verdict: 'ask', word: 'git rebase', path: '/usr/bin/git', reason: 'allowlist-miss' }]
  const { getByRole } = render(Command, { command: command('git rebase origin/main'), runs })
  const seg = getByRole('group', { name: 'git rebase origin/main, asks, No entry, /usr/bin/git' })
  expect(seg.tabIndex).toBe(0)
  expect(seg.dataset.verdict).toBe('ask')
})

test('a segment and its row point at each other', async () => {
  const onlit = vi.fn()
  const text = { text: 'a b', hidden: false, lines: [[...command('a', 0).lines[0]!, ...command('b', 1).lines[0]!]] }
  const runs = [{ segment: 0, verdict: 'ask', word: 'a' }, { segment: 1, verdict: 'pass', word: 'b' }, { segment: 2, verdict: 'ask', word: 'c', depth: 1 }]
  const { container, rerender } = render(Command, { command: text, runs, onlit })
  const lit = () => [...container.querySelectorAll<HTMLElement>('[data-lit]')].map((e) => e.textContent)
  container.querySelectorAll<HTMLElement>('.seg')[1]!.focus()
  expect(onlit).toHaveBeenLastCalledWith(1)
  await rerender({ lit: 0 })
  expect(lit()).toEqual(['a'])
  await rerender({ lit: 2 }) // what b starts
  expect(lit()).toEqual(['b'])
  await rerender({ lit: -1 })
  expect(lit()).toEqual([])
})

test('the copy button copies the text itself, not what is shown of it', async () => {
  const writeText = vi.fn(() => Promise.resolve())
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } })
  const hidden: Text = { text: 'a\u202eb', hidden: true, lines: [[{ kind: 'word', segment: -1, parts: [{ text: 'a' }, { text: 'U+202E', kind: 'escaped' }, { text: 'b' }] }]] }
  const { getByRole, findByText } = render(Command, { command: hidden, runs: [] })
  getByRole('button', { name: 'Copy command' }).click()
  await findByText('Copied')
  expect(writeText).toHaveBeenCalledWith('a\u202eb')
  vi.unstubAllGlobals()
})
