import { cleanup, render } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import Clock from './Clock.svelte'

const start = 1_700_000_000_000

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => {
  cleanup()
  see('visible')
  vi.useRealTimers()
})

function see(state: DocumentVisibilityState) {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}

function clock(seconds: number, offset = 0) {
  const { container, getByRole } = render(Clock, { asked: start + offset, expires: start + offset + seconds * 1000, offset })
  const at = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    await tick()
    return { time: container.querySelector('time')!.textContent, said: getByRole('status').textContent, low: container.querySelector('[data-low]') !== null }
  }
  return at
}

test('it counts down by the clock of the host', async () => {
  const at = clock(102, 3_600_000)
  expect((await at(0)).time).toBe('1:42')
  expect((await at(1500)).time).toBe('1:41')
  expect((await at(200_000)).time).toBe('0:00')
})

test('it turns amber under 20 seconds', async () => {
  const at = clock(21)
  expect((await at(500)).low).toBe(false)
  expect((await at(600)).low).toBe(true)
})

test('it is read aloud at 60, 20 and 5 seconds only', async () => {
  const at = clock(70)
  const said = new Set<string | null>()
  for (let i = 0; i < 75; i++) said.add((await at(1000)).said)
  expect([...said]).toEqual(['', 'Denies in 60 seconds', 'Denies in 20 seconds', 'Denies in 5 seconds'])
})

test('it rests while nobody can see it, and is right when they can', async () => {
  const at = clock(100)
  see('hidden')
  await at(1100)
  expect(vi.getTimerCount()).toBe(0)
  await at(40_000)
  see('visible')
  expect((await at(0)).time).toBe('0:59')
})
