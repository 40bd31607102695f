import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { oneWhole, type Fake } from '../lib/backend.fake'
import { calls, ended, host, question, replace, widths } from '../lib/sample'
import { panel } from '../lib/text'
import type { Answered, Question, Replayed, Screen, Sharer } from '../lib/types'
import { ScreenState } from './screen.svelte'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  see('visible')
  vi.useRealTimers()
})

const settle = () => vi.advanceTimersByTimeAsync(0)
const look = () => vi.advanceTimersByTimeAsync(500)

function see(state: DocumentVisibilityState) {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}

const sharer = (id: string): Sharer => ({ id, agent: { ...question(id).agent, id, name: id }, claims: [], expires: 0 })

/** A started state that has shown its question for long enough. */
async function shown(...waiting: Question[]): Promise<[ScreenState, Fake]> {
  const backend = host(...waiting)
  const state = new ScreenState(backend)
  state.start()
  await settle()
  await look()
  return [state, backend]
}

describe('answers that come too early do not count', () => {
  const cases: [string, (state: ScreenState, backend: Fake) => unknown][] = [
    ['another question comes', (s) => s.act('next')],
    ['the question ends and the next one comes', (_, b) => replace(b, question('b'))],
    ['the same question is about more requests', (_, b) => replace(b, question('a', { seen: 'a:2' }), question('b'))],
    ['another agent asks the same', (_, b) => replace(b, question('a', { seen: 'a=a:1,c=c:1', sharers: [sharer('a'), sharer('c')] }), question('b'))],
    ['the page becomes visible', () => see('visible')],
    ['the person comes back from Always allow…', async (s) => (s.act('always'), await look(), s.act('back'))],
    ['the menu asks for it again', async (s, b) => (await s.measured('a', 500), await look(), b.tell('open', 'a'))],
    ['another one was asked for and does not come', (s, b) => ((b.screen = () => new Promise(() => {})), s.act('next'))],
    ['the question gets another height', async (s) => (await s.measured('a', 500), await look(), await s.measured('a', 540))],
    ['who asks is called otherwise', (_, b) => replace(b, question('a', { agent: { ...question('a').agent, full: 'claude · 7' } }), question('b'))],
    ['the settings open beneath it', (_, b) => ((b.fixture.screen = { ...b.fixture.screen, settings: true }), b.tell('screen'))],
  ]
  test.each(cases)('%s', async (_, change) => {
    const [state, backend] = await shown(question('a'), question('b'))
    await change(state, backend)
    await settle()
    state.act('deny')
    state.act('once')
    await vi.advanceTimersByTimeAsync(499)
    state.act('once')
    await settle()
    expect(calls(backend, 'decide')).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    state.act('once')
    await settle()
    expect(calls(backend, 'decide')).toEqual([[expect.any(String), expect.any(String), 'allow-once', '']])
  })

  test('counted from when the host has shown the window', async () => {
    const backend = host(question('a'))
    let appear = () => {}
    backend.ready = () => new Promise((done) => (appear = done))
    const state = new ScreenState(backend)
    state.start()
    await settle()
    void state.measured('a', 500)
    await look()
    appear()
    await settle()
    state.act('deny')
    await vi.advanceTimersByTimeAsync(499)
    state.act('deny')
    expect(calls(backend, 'decide')).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    state.act('deny')
    expect(calls(backend, 'decide')).toEqual([['a', 'a:1', 'deny', '']])
  })

  test('also where it would save: Always allow… has just opened', async () => {
    const [state, backend] = await shown(question('a'))
    state.act('always')
    state.act('save')
    expect(state.view).toBe('always')
    expect(calls(backend, 'decide')).toEqual([])
    await look()
    state.act('save')
    expect(calls(backend, 'decide')).toEqual([['a', 'a:1', 'allow-always', '']])
  })
})

describe('what may be done', () => {
  const cases: [string, Question, string[], unknown[][]][] = [
    ['deny', question('a'), ['deny'], [['a', 'a:1', 'deny', '']]],
    ['once', question('a'), ['once'], [['a', 'a:1', 'allow-once', '']]],
    ['not once where it is not offered', question('a', { allowOnce: false }), ['once'], []],
    ['not save without having seen what', question('a'), ['save'], []],
    ['not always where it is not offered', question('a', { always: [] }), ['always', 'save'], []],
    ['not deny from within Always allow…', question('a'), ['always', 'deny', 'once'], []],
    ['nothing about one that ended', ended('a'), ['deny', 'once', 'always', 'save'], []],
  ]
  test.each(cases)('%s', async (_, q, actions, want) => {
    const [state, backend] = await shown(q)
    for (const action of actions) {
      state.act(action as 'deny')
      await look()
    }
    expect(calls(backend, 'decide')).toEqual(want)
  })

  test('allowed for a while as narrowly as can be, and not too early', async () => {
    const [state, backend] = await shown(question('a', { widths }))
    replace(backend, question('b', { widths }))
    await settle()
    state.allowFor('1h')
    expect(calls(backend, 'remember')).toEqual([])
    await look()
    state.allowFor('1h')
    await settle()
    expect(calls(backend, 'remember')).toEqual([['b', 'b:1', 'exact', false, '1h']])
  })

  test.each([
    ['where nothing is offered', question('a'), []],
    ['one that ended', ended('a'), []],
    ['from within Always allow…', question('a', { widths }), ['always']],
  ])('not for a while: %s', async (_, q, before) => {
    const [state, backend] = await shown(q)
    for (const action of before) state.act(action as 'always')
    await look()
    state.allowFor('10m')
    await settle()
    expect(calls(backend, 'remember')).toEqual([])
  })

  test('a choice does not outlive its question', async () => {
    const [state, backend] = await shown(question('a', { widths }))
    state.act('always')
    state.choice = { width: 'program', here: true, keep: '1h' }
    replace(backend, question('b', { widths }))
    await look()
    state.act('always')
    await look()
    expect(state.choice).toEqual({ width: 'exact', here: false, keep: 'good' })
    state.act('save')
    await settle()
    expect(calls(backend, 'remember')).toEqual([['b', 'b:1', 'exact', false, 'good']])
  })

  test('what the host says late of another question is not shown', async () => {
    const [state, backend] = await shown(question('a', { widths }), question('b', { widths }))
    let tell: (r: Replayed[]) => void = () => {}
    backend.replay = () => new Promise((done) => (tell = done))
    state.act('always')
    await look()
    state.act('next')
    await look()
    tell([{ width: 'exact', here: false, looked: 1, allowed: 1, yes: 1, denied: 0, complete: true }])
    await settle()
    expect(state.replay).toBeUndefined()
  })

  test.each([
    ['three times, and the suggested width covers them', 3, 0, false, { start: '', names: ['lint --fix'], times: 3 }],
    ['twice', 2, 0, false, undefined],
    ['and denied once', 5, 1, false, undefined],
    ['at high risk', 5, 0, true, undefined],
    ['and turned down', 6, 0, false, undefined, true],
  ])('allowed before: %s', async (_, yes, denied, risky, want, turnedDown = false) => {
    const some = widths.map((w) => (w.width === 'words' ? { ...w, suggested: true, here: true } : w))
    const [state, backend] = await shown(question('a', { widths: some, risky }))
    backend.replay = () => Promise.resolve([
      { width: 'exact', here: false, looked: 9, allowed: 9, yes: 9, denied: 0, complete: true },
      { width: 'words', here: true, looked: 9, allowed: yes, yes, denied, turnedDown, complete: true },
    ])
    replace(backend, question('b', { widths: some, risky }))
    await look()
    await settle()
    expect(state.allowedBefore).toEqual(want)
    state.act('always')
    await look()
    expect(state.choice).toEqual({ width: 'words', here: true, keep: 'good' })
  })

  test.each([
    ['10-minutes', [['denyFor', 'a', '10-minutes', 'why']]],
    ['rule-1', [['denyAlways', 'a', 1, 'why']]],
  ])('denied for longer: %s', async (life, want) => {
    const [state, backend] = await shown(question('a'))
    state.note = 'why'
    state.denyFor(life)
    await settle()
    expect(backend.calls.filter(([name]) => /^deny|decide/.test(name))).toEqual(want)
  })

  test('not denied for longer too early, nor when it ended', async () => {
    const backend = host(question('a'))
    const state = new ScreenState(backend)
    state.start()
    await settle()
    state.denyFor('session')
    const [over, second] = await shown(ended('a'))
    over.denyFor('session')
    await settle()
    expect([...backend.calls, ...second.calls].filter(([name]) => /^deny/.test(name))).toEqual([])
  })

  test('one of several identical requests, and only where there are several', async () => {
    const [state, backend] = await shown(question('a', { count: 3 }))
    state.act('one')
    const [single, second] = await shown(question('b', { count: 1 }))
    single.act('one')
    await settle()
    expect(calls(backend, 'allowOne')).toEqual([['a', 'a:1', '']])
    expect(calls(second, 'allowOne')).toEqual([])
  })

  test('a yes for a caller that has gone, and only then', async () => {
    const [state, backend] = await shown(ended('a'))
    state.act('again')
    const [live, second] = await shown(question('b'))
    live.act('again')
    await settle()
    expect(calls(backend, 'allowIfAsksAgain')).toEqual([['a', 'a:1']])
    expect(calls(second, 'allowIfAsksAgain')).toEqual([])
  })

  test('the clock is stopped where it can be, by hand and by Always allow…', async () => {
    const [state, backend] = await shown(question('a', { latest: 2_000_000_000_000 }))
    state.act('hold')
    await look()
    state.act('always')
    await look()
    state.act('back')
    await look()
    const [fixed, second] = await shown(question('b'))
    fixed.act('hold')
    fixed.act('always')
    await settle()
    expect(calls(backend, 'hold')).toEqual([['a', true], ['a', true], ['a', false]])
    expect(calls(second, 'hold')).toEqual([])
  })

  const small = (id: string) => question(id, { together: 3 })

  test('several together: only what is checked may run, and the rest is denied', async () => {
    const [state, backend] = await shown(small('a'), small('b'), small('c'))
    state.act('list')
    await look()
    expect([state.view, state.place, state.several?.length]).toEqual(['list', `list:${question('a').agent.id}`, 3])
    state.act('once')
    state.act('save')
    state.checked = { b: true }
    state.act('answer')
    await settle()
    const agent = question('a').agent.id
    const replies = ['a', 'b', 'c'].map((id) => ({ id, seen: `${id}:1`, decision: id === 'b' ? 'allow-once' : 'deny' }))
    expect(calls(backend, 'answerMany')).toEqual([[agent, replies, '']])
    expect(calls(backend, 'decide')).toEqual([])
  })

  test('several together: Escape denies all of them, and nothing too early', async () => {
    const [state, backend] = await shown(small('a'), small('b'))
    state.act('list')
    await settle()
    state.act('deny')
    expect(calls(backend, 'answerMany')).toEqual([])
    await look()
    state.checked = { a: true }
    state.act('deny')
    await settle()
    expect(calls(backend, 'answerMany')[0]?.[1]).toEqual([{ id: 'a', seen: 'a:1', decision: 'deny' }, { id: 'b', seen: 'b:1', decision: 'deny' }])
  })

  test('several together: the list goes when one is left, and a row opens alone', async () => {
    const [state, backend] = await shown(small('a'), small('b'))
    state.act('list')
    await look()
    state.openOne('b')
    await look()
    expect([state.view, state.question?.id]).toEqual(['ask', 'b'])
    state.act('list')
    await look()
    replace(backend, question('b'))
    await look()
    expect([state.view, state.question?.id]).toEqual(['ask', 'b'])
    expect(calls(backend, 'answerMany')).toEqual([])
  })

  test('Always allow… closes when it is no longer offered', async () => {
    const [state, backend] = await shown(question('a'))
    state.act('always')
    replace(backend, question('a', { seen: 'a:2', always: [] }))
    await look()
    expect(state.view).toBe('ask')
    state.act('save')
    expect(calls(backend, 'decide')).toEqual([])
  })
})

describe('one answer', () => {
  test('a second press while the first is on its way, and after it', async () => {
    const [state, backend] = await shown(question('a'))
    let say = (_: Answered) => {}
    backend.decide = (...args) => {
      backend.calls.push(['decide', ...args])
      return new Promise((done) => (say = done))
    }
    state.act('deny')
    state.act('once')
    state.act('deny')
    await look()
    state.act('once')
    expect(calls(backend, 'decide')).toHaveLength(1)
    say({ ok: true })
    await look()
    // The host still lists it, and is not asked again.
    expect(state.question).toBeUndefined()
    state.act('once')
    replace(backend, question('a'))
    await look()
    state.act('once')
    expect(calls(backend, 'decide')).toHaveLength(1)
  })

  test('one that fails says why, looks again, and can be repeated', async () => {
    const [state, backend] = await shown(question('a'))
    backend.answered = { ok: false, message: 'It was answered elsewhere.' }
    const looks = vi.spyOn(backend, 'screen')
    state.act('once')
    await look()
    expect(state.message).toBe('It was answered elsewhere.')
    expect(state.question?.id).toBe('a')
    expect(looks).toHaveBeenCalledOnce()
    backend.answered = { ok: true }
    state.act('once')
    await settle()
    expect(state.message).toBe('')
    expect(calls(backend, 'decide')).toHaveLength(2)
  })

  test('one that never arrives is no success', async () => {
    const [state, backend] = await shown(question('a'))
    backend.decide = () => Promise.reject(new Error('gone'))
    state.act('once')
    await look()
    expect(state.message).toBe(panel.notTaken)
    expect(state.question?.id).toBe('a')
  })

  test('what was said of one question is not said of the next', async () => {
    const [state, backend] = await shown(question('a'), question('b'))
    backend.answered = { ok: false, message: 'No.' }
    state.act('once')
    await look()
    state.act('next')
    await settle()
    expect(state.message).toBe('')
  })

  test('the note goes with a denial only, and stays with its question', async () => {
    const [state, backend] = await shown(question('a'), question('b'))
    state.note = 'Not now.'
    state.act('next')
    await settle()
    expect(state.note).toBe('')
    state.note = 'Fine.'
    await look()
    state.act('once')
    await look()
    expect(state.note).toBe('Not now.')
    state.act('deny')
    await settle()
    expect(calls(backend, 'decide')).toEqual([['b', 'b:1', 'allow-once', ''], ['a', 'a:1', 'deny', 'Not now.']])
  })
})

describe('which question is shown', () => {
  const cases: [string, Question[], string, Question[], string | undefined][] = [
    ['stays when another comes', [question('a')], 'a', [question('b'), question('a')], 'a'],
    ['stays when another goes', [question('a'), question('b')], 'b', [question('b')], 'b'],
    ['goes to the one after it', [question('a'), question('b'), question('c')], 'b', [question('a'), question('c')], 'c'],
    ['goes to the first after the last', [question('a'), question('b')], 'b', [question('a')], 'a'],
    ['passes over one that ended', [question('a'), question('b'), question('c')], 'a', [question('c'), ended('b')], 'c'],
    ['stays when it ends', [question('a'), question('b')], 'a', [question('b'), ended('a')], 'a'],
    ['shows one that ended when nothing else is left', [question('a'), ended('b')], 'a', [ended('b')], 'b'],
    ['shows nothing', [question('a')], 'a', [], undefined],
  ]
  test.each(cases)('%s', async (_, before, current, after, want) => {
    const [state, backend] = await shown(...before)
    while (state.question?.id !== current) {
      state.act('next')
      await settle()
    }
    replace(backend, ...after)
    await settle()
    expect(state.question?.id).toBe(want)
    expect(state.question?.partial).toBeFalsy()
  })

  test('a live one is shown before one that ended', async () => {
    const [state] = await shown(ended('a'), question('b'))
    expect(state.question?.id).toBe('b')
  })

  test('next and previous go around the live ones', async () => {
    const [state] = await shown(question('a'), question('b'), question('c'), ended('d'))
    const seen = []
    for (const action of ['next', 'next', 'next', 'previous', 'previous'] as const) {
      state.act(action)
      await settle()
      seen.push(`${state.question?.id}${state.index}`)
    }
    expect(seen).toEqual(['b1', 'c2', 'a0', 'c2', 'b1'])
    expect(state.live).toHaveLength(3)
  })

  test('one that ended goes when it is dismissed, and the next live one comes', async () => {
    const [state, backend] = await shown(question('a'))
    replace(backend, question('b'), ended('a'))
    await settle()
    expect(state.view).toBe('ended')
    state.act('close') // too early: it was meant for the question
    await settle()
    expect(calls(backend, 'dismiss')).toEqual([])
    await look()
    state.act('close')
    await settle()
    expect(calls(backend, 'dismiss')).toEqual([['a']])
    expect(state.question?.id).toBe('b')
  })

  test('the menu goes to a question that the page does not know yet', async () => {
    const [state, backend] = await shown(question('a'))
    backend.fixture.screen = { ...backend.fixture.screen, waiting: [question('a'), question('b')] }
    backend.tell('open', 'b')
    await settle()
    expect(state.question?.id).toBe('b')
  })

  test('a hidden page goes to what came last, so that the window appears', async () => {
    const [state, backend] = await shown(ended('a'))
    see('hidden')
    replace(backend, question('b'), ended('a'))
    await settle()
    expect(state.question?.id).toBe('b')
  })
})

describe('the screen', () => {
  /** A host whose screens are given one by one. */
  function slow(): [Fake, ((...waiting: Question[]) => Promise<void>)[]] {
    const backend = host()
    const say: ((...waiting: Question[]) => Promise<void>)[] = []
    backend.screen = (want) =>
      new Promise<Screen>((done) =>
        say.push(async (...waiting) => {
          done(oneWhole({ ...backend.fixture.screen, waiting }, want))
          await settle()
        }),
      )
    return [backend, say]
  }

  /** A slow host that has shown the first of these. */
  async function slowly(...waiting: Question[]) {
    const [backend, say] = slow()
    const asked = vi.spyOn(backend, 'screen')
    const state = new ScreenState(backend)
    state.start()
    await say[0]!(...waiting)
    await look()
    const next = (...now: Question[]) => say.at(-1)!(...now)
    return { backend, state, next, asked: () => asked.mock.calls.map(([want]) => want) }
  }

  describe('holds one question whole', () => {
    const [a, b, c] = [question('a'), question('b'), question('c')]

    test('the one before stays until the one that is wanted has come', async () => {
      const { state, next, asked } = await slowly(a, b, c)
      state.act('next')
      state.act('next') // c by now; b is on its way
      expect([state.question?.id, state.index, state.live.length]).toEqual(['a', 0, 3])
      await next(a, b, c)
      expect(state.question?.id).toBe('a')
      await next(a, b, c)
      expect([state.question?.id, state.index]).toEqual(['c', 2])
      expect(state.question?.partial).toBeFalsy()
      expect(asked()).toEqual(['', 'b', 'c'])
    })

    test('and goes on being the one if the person comes back meanwhile', async () => {
      const { state, next, asked } = await slowly(a, b)
      state.act('next')
      state.act('previous')
      await next(a, b)
      await next(a, b)
      expect(state.question?.id).toBe('a')
      expect(asked()).toEqual(['', 'b', 'a'])
    })

    test('one that is wanted and goes is not waited for', async () => {
      const { state, next, asked } = await slowly(a, b, c)
      state.act('next')
      await next(c, a) // what is whole is c
      expect(state.question?.id).toBe('a')
      await next(c, a)
      expect([state.question?.id, state.question?.partial]).toEqual(['a', undefined])
      expect(asked()).toEqual(['', 'b', 'a'])
    })

    test('one that is answered goes at once, before the next one has come', async () => {
      const { state, next } = await slowly(a, b)
      state.act('once')
      await settle()
      expect([state.question, state.covered]).toEqual([undefined, true])
      await next(b)
      expect([state.question?.id, state.index, state.live.length]).toEqual(['b', 0, 1])
    })

    test('one that is withdrawn while another is on its way goes at once', async () => {
      const { state, next } = await slowly(a, b, c)
      state.act('next')
      state.act('next')
      await next(b, c)
      expect([state.question, state.covered]).toEqual([undefined, true])
      await next(b, c)
      expect(state.question?.id).toBe('c')
    })

    test('one that ends while another is on its way cannot be answered', async () => {
      const { backend, state, next } = await slowly(a, b, c)
      state.act('next')
      state.act('next')
      await next(b, c, ended('a'))
      expect([state.question?.id, state.view]).toEqual(['a', 'ended'])
      await look()
      for (const action of ['deny', 'once', 'always', 'save'] as const) state.act(action)
      expect(calls(backend, 'decide')).toEqual([])
    })

    test('the next one that goes as well while it is on its way makes room for the one after', async () => {
      const { state, next } = await slowly(a, b, c, question('d'))
      state.act('once')
      await settle()
      await next(c, question('d'))
      await next(c, question('d'))
      expect(state.question?.id).toBe('c')
      expect(state.covered).toBe(true)
    })

    test('a host that keeps giving another one is not asked forever', async () => {
      const [state, backend] = await shown(a, b, c)
      const stubborn = vi.spyOn(backend, 'screen').mockImplementation(() => Promise.resolve(oneWhole({ ...backend.fixture.screen, waiting: [c, a, b] }, 'c')))
      state.act('next')
      await settle()
      expect(state.question?.id).toBe('c')
      expect(stubborn.mock.calls.length).toBeLessThan(6)
      // And one that gives none leaves what is there, once it was not asked too often.
      stubborn.mockImplementation(() => Promise.resolve({ ...backend.fixture.screen, waiting: [c, a, b].map((q) => ({ ...q, partial: true, seen: '' })) }))
      stubborn.mockClear()
      state.act('next')
      await settle()
      expect(state.question).toMatchObject({ id: 'c', seen: 'c:1' })
      expect(stubborn.mock.calls.length).toBeLessThan(6)
    })

    test('a flood of others moves nothing', async () => {
      const flood = Array.from({ length: 1000 }, (_, i) => question(`q${i}`))
      const [state, backend] = await shown(a)
      const looks = vi.spyOn(backend, 'screen')
      const before = state.question
      replace(backend, ...flood, a)
      await settle()
      expect(state.question).toBe(before)
      expect([state.index, state.live.length]).toEqual([1000, 1001])
      state.act('next')
      await settle()
      expect([state.question?.id, state.index]).toEqual(['q0', 0])
      state.act('previous')
      await settle()
      expect(state.question?.id).toBe('a')
      replace(backend, ...flood)
      await settle()
      expect(state.question?.id).toBe('q0')
      expect(looks.mock.calls.length).toBeLessThan(12)
    })
  })

  test('is asked for once more when something changes meanwhile, and not more often', async () => {
    const [backend, say] = slow()
    const state = new ScreenState(backend)
    state.start()
    for (let i = 0; i < 5; i++) backend.tell('screen')
    expect(say).toHaveLength(1)
    await say[0]!(question('old'))
    expect(say).toHaveLength(2)
    await say[1]!(question('new'))
    expect(state.question?.id).toBe('new')
    expect(say).toHaveLength(2)
    backend.tell('screen')
    expect(say).toHaveLength(3)
  })

  test('that was on its way does not bring an answered question back', async () => {
    const [backend, say] = slow()
    const state = new ScreenState(backend)
    state.start()
    await say[0]!(question('a'))
    await look()
    backend.tell('screen')
    state.act('once')
    await settle()
    await say[1]!(question('a'))
    expect(state.question).toBeUndefined()
  })

  test('that cannot be had leaves what is there', async () => {
    const [state, backend] = await shown(question('a'))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    backend.screen = () => Promise.reject(new Error('gone'))
    backend.tell('screen')
    await settle()
    expect(state.question?.id).toBe('a')
    expect(log).toHaveBeenCalledOnce()
  })

  test('keeps the very question where nothing about it changed', async () => {
    const [state, backend] = await shown(question('a'))
    const before = state.question
    replace(backend, question('a'), question('b'))
    await settle()
    expect(state.question).toBe(before)
    replace(backend, question('a', { expires: 5 }))
    await settle()
    expect(state.question?.expires).toBe(5)
  })

  test('is not followed any more after the end', async () => {
    const backend = host(question('a'))
    const looks = vi.spyOn(backend, 'screen')
    new ScreenState(backend).start()()
    backend.tell('screen')
    await settle()
    expect(looks).toHaveBeenCalledOnce()
  })
})

test('the host hears of a question, of another height, and of the settings that go', async () => {
  const [state, backend] = await shown(question('a'), question('b'))
  await state.measured('a', 500)
  await state.measured('a', 500)
  await state.measured('b', 600) // not shown
  await state.measured('a', 540)
  expect(calls(backend, 'ready')).toEqual([['a', 500], ['a', 540]])
  backend.fixture.screen = { ...backend.fixture.screen, settings: true }
  backend.tell('screen')
  await settle()
  expect(calls(backend, 'ready')).toEqual([['a', 500], ['a', 540], ['a', 540]])
  state.act('next')
  await settle()
  await state.measured('b', 600)
  expect(calls(backend, 'ready').at(-1)).toEqual(['b', 600])
})

test('the host hears of one thing after the other, and last of what is there last', async () => {
  const [state, backend] = await shown(question('a'), question('b'))
  const done: (() => void)[] = []
  backend.ready = (...said) => {
    backend.calls.push(['ready', ...said])
    return new Promise((go) => done.push(go))
  }
  void state.measured('a', 500)
  void state.measured('a', 520)
  void state.measured('a', 540)
  expect(calls(backend, 'ready')).toEqual([['a', 500]])
  done[0]!()
  await settle()
  expect(calls(backend, 'ready')).toEqual([['a', 500], ['a', 540]])
  void state.measured('a', 560)
  state.act('next')
  await settle()
  void state.measured('b', 600)
  done[1]!()
  await settle()
  expect(calls(backend, 'ready').slice(2)).toEqual([['b', 600]])
})

test('after an answer that was not taken the host hears once more what is on the page', async () => {
  const [state, backend] = await shown(question('a'))
  await state.measured('a', 500)
  await look()
  backend.answered = { ok: false, message: 'It had just appeared.' }
  state.act('once')
  await settle()
  expect(calls(backend, 'ready')).toEqual([['a', 500], ['a', 500]])
  state.act('once') // the host counts from then on
  await settle()
  expect(calls(backend, 'decide')).toHaveLength(1)
  await look()
  state.act('once')
  await settle()
  expect(calls(backend, 'decide')).toHaveLength(2)
})
