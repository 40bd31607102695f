import { describe, expect, test } from 'vitest'
import { meaning, type Meaning, type Place } from './keys'

const asking: Place = { view: 'ask', mac: false, once: true, always: true }
const button = document.createElement('button')
const field = document.createElement('input')
document.body.append(button, field)

/** What a key means: "^o" is control and o, "@o" is command and o. */
function press(key: string, at: Partial<Place> = {}, how: KeyboardEventInit = {}, on: HTMLElement = button): Meaning {
  const init = { key: key.replace(/^[\^@]/, ''), ctrlKey: key[0] === '^', metaKey: key[0] === '@', bubbles: true, cancelable: true, ...how }
  let means: Meaning
  const listen = (e: KeyboardEvent) => (means = meaning(e, { ...asking, ...at }))
  addEventListener('keydown', listen)
  on.dispatchEvent(new KeyboardEvent('keydown', init))
  removeEventListener('keydown', listen)
  return means
}

const mac = { mac: true }
const always = { view: 'always' } as const
const over = { view: 'ended' } as const
const risky = { once: false }

const table: [string, Partial<Place>, Meaning][] = [
  ['Escape', {}, 'deny'], ['Escape', always, 'back'], ['Escape', over, 'close'], ['Escape', risky, 'deny'],
  ['^Escape', {}, undefined], ['@Escape', {}, undefined],
  ['Enter', {}, undefined], [' ', {}, undefined], ['Enter', always, undefined], ['o', {}, undefined], ['y', {}, undefined],
  ['^o', {}, 'once'], ['^O', {}, 'once'], ['@o', {}, undefined], ['@o', mac, 'once'], ['^o', mac, undefined],
  ['^o', risky, 'swallow'], ['^o', always, 'swallow'], ['^o', over, 'swallow'],
  ['^a', {}, 'always'], ['@a', mac, 'always'], ['^a', always, 'swallow'], ['^a', over, 'swallow'], ['^a', { always: false }, 'swallow'],
  ['^a', risky, 'always'],
  ['^c', {}, 'copy'], ['@c', mac, 'copy'], ['^c', over, 'copy'],
  ['^[', {}, 'previous'], ['^]', {}, 'next'], ['@]', mac, 'next'], ['^]', over, 'next'],
]

describe('a key', () => {
  test.each(table)('%s at %o', (key, at, want) => expect(press(key, at)).toBe(want))

  const keys = [...new Set(table.map(([key]) => key))]
  const answers = new Set<Meaning>(['deny', 'once', 'always', 'save', 'back', 'close'])
  const places = [{}, always, over, risky, mac]

  test.each(keys)('%s never answers in a text field', (key) => {
    for (const at of places) expect(answers.has(press(key, at, {}, field))).toBe(false)
  })
  test.each(keys)('%s never answers while it repeats', (key) => {
    for (const at of places) expect(answers.has(press(key, at, { repeat: true }))).toBe(false)
  })
  test.each(keys)('%s is left alone while an input method composes', (key) => {
    for (const at of places) {
      expect(press(key, at, { isComposing: true })).toBeUndefined()
      expect(press(key, at, { keyCode: 229 })).toBeUndefined()
    }
  })
  test.each(keys)('%s with shift or alt does nothing', (key) => {
    for (const at of places) {
      expect(press(key, at, { shiftKey: true })).toBeUndefined()
      expect(press(key, at, { altKey: true })).toBeUndefined()
    }
  })
  test.each(keys)('%s never saves', (key) => {
    for (const at of places) expect(press(key, at)).not.toBe('save')
  })
})

test('in a text field, escape leaves it and control-a selects its text', () => {
  expect(press('Escape', {}, {}, field)).toBe('leave')
  expect(press('^a', {}, {}, field)).toBeUndefined()
  expect(press('^c', {}, {}, field)).toBeUndefined()
})

test('an open menu has the keys, and none of them answers', () => {
  const menu = document.createElement('div')
  menu.setAttribute('role', 'menu')
  const row = menu.appendChild(document.createElement('div'))
  document.body.append(menu)
  for (const key of ['Escape', 'Enter', 'ArrowDown', '[']) expect(press(key, {}, {}, row)).toBeUndefined()
  for (const key of ['^o', '^a', '^c']) expect(press(key, {}, {}, row)).toBe('swallow')
  expect(press('Enter', {}, { repeat: true }, row)).toBe('swallow')
})

test('enter and space that are held down do not press the button that has just come', () => {
  expect(press('Enter', {}, { repeat: true })).toBe('swallow')
  expect(press(' ', {}, { repeat: true })).toBe('swallow')
  expect(press(' ', {}, { repeat: true }, field)).toBeUndefined()
})
