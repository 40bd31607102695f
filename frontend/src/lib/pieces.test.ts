import { expect, test } from 'vitest'
import { anchor, breaks, cut, middle, parts } from './pieces'
import { minutes, passed } from './time'
import type { Run } from './types'

const texts = [
  '', '/', '//', '///a', 'a', 'a/b', '/usr/local/bin/node', 'מסמכים', '~/מסמכים/a', 'a/مُستندات/b', '🦞/é', 'x'.repeat(100),
  '/a/' + 'x'.repeat(100), '/home/dana/Library/Mobile Documents/' + 'deep/'.repeat(20) + 'verify_checksums.sh', 'אב12גד', '<b>&amp;',
]

test.each(texts)('%s stays whole', (text) => {
  expect(breaks(text).join('')).toBe(text)
  expect(middle(text).join('')).toBe(text)
  expect(parts(text).map((p) => p.text).join('')).toBe(text)
})

test('letters that run the other way stand alone, with their marks', () => {
  expect(parts('~/مُستندات/נסח.txt')).toEqual([
    { text: '~/' }, { text: 'مُستندات', kind: 'rtl' }, { text: '/' }, { text: 'נסח', kind: 'rtl' }, { text: '.txt' },
  ])
})

test.each(['\u061b', '\u061f', '\u05d0', '\u07ca', '\u0860', '\ufb1d', '\ufe8d', '𐤀', '𐩠', '𐴀', '𐽰', '𞠀', '𞤀', '𞸀', '\u{10d50}'])('%s runs the other way', (letter) => {
  expect(parts(`a${letter}/1`)).toEqual([{ text: 'a' }, { text: letter, kind: 'rtl' }, { text: '/1' }])
})

test('a long name is cut in the middle', () => {
  expect(cut('x'.repeat(60))).toBe('x'.repeat(60))
  expect(cut('🦞'.repeat(61))).toBe(`${'🦞'.repeat(30)}…${'🦞'.repeat(29)}`)
})

test('a path breaks after its slashes', () => expect(breaks('/usr//bin/x')).toEqual(['/', 'usr/', '/', 'bin/', 'x']))

test('the end of a path stays', () => {
  expect(middle('/opt/a/b/scripts/generated/verify.sh')).toEqual(['/opt/a/b/scripts', '/generated/verify.sh'])
  expect(middle('/bin/sh')).toEqual(['', '/bin/sh'])
  expect(middle('/a/b/' + 'x'.repeat(80))[1]).toHaveLength(28)
})

test('what a wrapper starts belongs to the wrapper in the text', () => {
  const runs = [{ segment: 0 }, { segment: 1 }, { segment: 4, depth: 1 }, { segment: 5, depth: 2 }, { segment: 2 }] as Run[]
  expect([0, 1, 4, 5, 2, 9].map((n) => anchor(runs, n))).toEqual([0, 1, 1, 1, 2, 9])
})

test('times', () => {
  expect([102_000, 101_001, 60_000, 59_999, 1, 0, -5].map(minutes)).toEqual(['1:42', '1:42', '1:00', '1:00', '0:01', '0:00', '0:00'])
  expect(passed(60_500, 59_900)).toBe(60)
  expect(passed(60_000, 59_000)).toBe(0)
  expect(passed(70_000, 4_000)).toBe(5) // the page was hidden meanwhile
  expect(passed(4_000, 0)).toBe(0)
})
