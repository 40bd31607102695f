import type { Backend } from '../lib/backend'
import { Guard } from '../lib/guard'
import type { Action, View } from '../lib/keys'
import { idsOf, sharing } from '../lib/sharers'
import { panel } from '../lib/text'
import type { Answered, Before, Decision, Keep, Question, Replayed, Screen, StartOffer, Width, WouldDo } from '../lib/types'

/** How often in a row the host is asked for a question that it does not give, before the one that it gives is taken. */
const patience = 3

/** From how many same answers on a rule is suggested. */
const often = 3

/** Begins the name of a list of questions (shown.ListMark). */
const listMark = 'list:'

/** The choice of a start, which is no width of the host. */
export const startWidth = 'start'

/** How a yes is to be remembered. */
export interface Choice {
  width: string
  here: boolean
  keep: Keep
}

/** What is chosen when widths are shown: what is suggested, else the narrowest. */
export function suggested(widths: Width[], start?: StartOffer): Choice {
  if (start?.times) return { width: startWidth, here: true, keep: 'good' }
  const one = widths.find((w) => w.suggested) ?? widths[0]
  return { width: one?.width ?? '', here: one?.here ?? false, keep: 'good' }
}

/**
 * What the page shows, and what a person does with the questions on it. Of all
 * that wait the host gives one whole, the one that is asked for. Only such a
 * one is ever shown.
 */
export class ScreenState {
  screen = $state.raw<Screen>()
  /** Why the last answer did not count. */
  message = $state('')
  /** What the question on the page would do to files, once the host has looked. */
  wouldDo = $state.raw<WouldDo>()
  /** How far the host's clock is ahead of the page's, in milliseconds. */
  offset = $state(0)
  #list = $state.raw<Question[]>([])
  #shown = $state.raw<Question>()
  #always = $state(false)
  #notes = $state<Record<string, string>>({})
  /** What is chosen on Always allow…, and what the widths would have meant; undefined until the host said it. */
  choice = $state<Choice>({ width: '', here: false, keep: 'good' })
  replay = $state.raw<Replayed[]>()
  /** The start with which it can be answered, if there is one. */
  startFor = $state.raw<StartOffer>()

  /** The small questions that are answered together, while their list is on the page. */
  several = $state.raw<Question[]>()
  /** Those of them that may run once. */
  checked = $state<Record<string, boolean>>({})
  #held = '' // the question whose clock Always allow… has stopped

  readonly live = $derived(this.#list.filter((q) => !q.ended))
  /** The place of the question among the live ones, from 0; -1 for one that ended. */
  readonly index = $derived(this.live.findIndex((q) => q.id === this.#shown?.id))
  readonly view: View = $derived(this.#shown?.ended ? 'ended' : this.several ? 'list' : this.#always ? 'always' : 'ask')
  /** Something waits, on the page or on its way to it. */
  readonly covered = $derived(this.#list.length > 0)

  #backend: Backend
  #loading: Promise<void> | undefined
  #again = false
  #wanted = '' // on its way to the page
  #mark = ''
  #guard = new Guard()
  #ready = { id: '', settings: false, height: 0 }
  #untold = false
  #telling: Promise<void> | undefined
  #busy = new Set<string>()
  #gone = new Set<string>()

  constructor(backend: Backend) {
    this.#backend = backend
  }

  /** The question on the page, whole. */
  get question(): Question | undefined {
    return this.#shown
  }

  get #current(): string {
    return this.#shown?.id ?? ''
  }

  /** What the host knows the page by: a question, or the list of an agent. */
  get place(): string {
    return this.several && this.#shown ? listMark + this.#shown.agent.id : this.#current
  }

  /** Follows the host until the function that it returns is called. */
  start(): () => void {
    const stops = [
      this.#backend.on('screen', () => void this.load()),
      this.#backend.on('open', (id) => void this.#open(id)),
      this.#guard.follow(),
    ]
    void this.load()
    return () => stops.forEach((stop) => stop())
  }

  /** Asks for the screen; ends when what was there at the call is on the page. */
  load(): Promise<void> {
    this.#again = true
    this.#loading ??= this.#load()
    return this.#loading
  }

  // One at a time, so that no late answer replaces a newer one.
  async #load() {
    let misses = 0
    while (this.#again) {
      this.#again = false
      const want = this.#wanted || this.#current
      try {
        if (this.#take(await this.#backend.screen(want), want, misses < patience)) misses = 0
        else {
          misses++
          this.#again = true
        }
      } catch (err) {
        console.error('cannot ask for the screen', err)
      }
    }
    this.#loading = undefined
  }

  async #open(id: string) {
    this.#wanted = id
    await this.load()
    // It was there already, in a window that may be hidden.
    if (this.#current === id && this.#ready.id === id) await this.#tell()
  }

  /** Shows what the host gave when it was asked for a question; false if the one to show is not whole. */
  #take(screen: Screen, want: string, patient: boolean): boolean {
    if (this.screen && this.screen.settings !== screen.settings) this.#guard.restart()
    this.screen = screen
    this.offset = screen.now - Date.now()
    const whole = this.#show(screen.waiting.filter((q) => !this.#gone.has(q.id)), want, patient)
    if (this.#ready.id === this.place) void this.measured(this.#ready.id, this.#ready.height)
    if (this.several) void this.#together()
    return whole
  }

  #show(list: Question[], asked: string, patient: boolean): boolean {
    const there = new Map(list.map((q) => [q.id, q]))
    let next = there.get(this.#choose(list, there))
    if (next?.partial && !patient) next = list.find((q) => !q.partial) ?? next
    this.#list = list
    // What was asked for and is not there does not come; what was not asked for yet may.
    if (there.has(this.#wanted) || this.#wanted === asked) this.#wanted = ''
    if (next?.partial) {
      if (patient && next.id !== this.#current) this.#wanted ||= next.id
      this.#put(this.#kept(there.get(this.#current)))
      return !patient
    }
    this.#put(next && same(this.#shown, next) ? this.#shown : next)
    return true
  }

  /** What stays on the page until the question to show has come. One that nobody waits for cannot be answered meanwhile. */
  #kept(place: Question | undefined): Question | undefined {
    if (!place || !this.#shown) return undefined
    if (!place.partial) return same(this.#shown, place) ? this.#shown : place
    return place.ended && !this.#shown.ended ? { ...this.#shown, ended: place.ended } : this.#shown
  }

  #choose(list: Question[], there: Map<string, Question>): string {
    if (there.has(this.#wanted)) return this.#wanted
    const before = this.#list
    const live = list.filter((q) => !q.ended)
    if (document.visibilityState === 'hidden') {
      // Nobody looks at a hidden page, and only a question that is on it brings the window back.
      const known = new Set(before.map((q) => q.id))
      const fresh = live.find((q) => !known.has(q.id))
      if (fresh) return fresh.id
    }
    if (there.has(this.#current)) return this.#current
    const others = list.find((q) => q.sharers?.some((s) => s.id === this.#current)) // who asked the same waits on
    if (others) return others.id
    const left = this.#current || this.#wanted
    const after = before.slice(before.findIndex((q) => q.id === left) + 1)
    const next = after.map((q) => there.get(q.id)).find((q) => q && !q.ended)
    return (next ?? live[0] ?? list[0])?.id ?? ''
  }

  #put(q: Question | undefined) {
    const before = this.#shown
    if (q?.id !== this.#current) {
      if (q?.sharers?.some((s) => s.id === this.#current)) this.#notes[q.id] ??= this.note
      this.#always = false
      this.message = ''
    }
    if (!q || q.ended || q.agent.id !== this.#shown?.agent.id) this.several = undefined
    this.#shown = q
    if (!q?.always.length) this.#always = false
    if (q && before?.id === q.id && before.seen !== q.seen && (before.sharers || q.sharers)) this.#turn(false) // it would be saved for others
    const mark = q ? JSON.stringify([q.id, q.seen, q.agent, q.ended?.reason]) : ''
    if (mark !== this.#mark) {
      this.#guard.restart()
      this.#mark = mark
      void this.#look(q)
    }
    if (!q) this.#ready = { id: '', settings: false, height: 0 }
  }

  /** Asks what the question would do, which is a look at files and comes after it. */
  async #look(q: Question | undefined) {
    const mark = this.#mark
    this.wouldDo = undefined
    this.replay = undefined
    this.startFor = undefined
    if (!q || q.ended) return
    let found: WouldDo
    try {
      found = await this.#backend.wouldDo(q.id)
    } catch {
      found = { lines: [] } // which is shown as not known
    }
    if (mark !== this.#mark) return
    this.wouldDo = found
    if (sharing(q).length > 0) return // what each of them was allowed is not the same
    if (!q.widths.some((w) => w.suggested) || q.risky) return
    const start = await this.#lookAtStart(q)
    if (!start?.times) await this.#replay(q) // else what it tells is asked for with the widths
  }

  /** Asks what the widths would have meant, which is a look at the history and comes last. */
  async #replay(q: Question) {
    try {
      const told = await this.#backend.replay(q.id)
      if (q.seen === this.#shown?.seen) this.replay = told
    } catch (err) {
      console.error('cannot tell what the widths would have meant', err)
    }
  }

  /** How often the person allowed what the suggested start or width would let pass, and neither denied it nor turned it down. */
  get allowedBefore(): Before | undefined {
    const q = this.#shown
    if (this.startFor?.times) return { start: this.startFor.start, names: [], times: this.startFor.times }
    const width = q?.widths.find((w) => w.suggested)
    if (!q || !width || q.risky || sharing(q).length > 0) return undefined
    const told = this.replay?.find((r) => r.width === width.width && r.here === !!width.here)
    return told && told.yes >= often && told.denied === 0 && !told.turnedDown ? { start: '', names: width.width === 'exact' ? [] : width.names, times: told.yes } : undefined
  }

  /** The question is in the page and wants this height, in points. */
  async measured(id: string, height: number) {
    const settings = this.screen?.settings ?? false
    const told = this.#ready
    if (!id || id !== this.place || (told.id === id && told.settings === settings && told.height === height)) return
    this.#ready = { id, settings, height }
    await this.#tell()
  }

  /** Tells the host what is on the page. The last thing it hears is what is there last. */
  #tell(): Promise<void> {
    this.#untold = true
    this.#guard.restart()
    this.#telling ??= this.#send()
    return this.#telling
  }

  async #send() {
    while (this.#untold) {
      this.#untold = false
      const { id, height } = this.#ready
      if (!id || id !== this.place) continue
      try {
        await this.#backend.ready(id, height)
      } catch (err) {
        console.error('cannot say that the question is on the page', err)
      }
      this.#guard.restart() // the window may have appeared, or changed, only now
    }
    this.#telling = undefined
  }

  get note(): string {
    return this.#notes[this.#current] ?? ''
  }

  set note(text: string) {
    this.#notes[this.#current] = text
  }

  /** Does what a key or a button says, unless it comes too early to be meant. */
  act(action: Action) {
    if (action === 'next') return this.#step(1)
    if (action === 'previous') return this.#step(-1)
    if (action === 'menu') return this.#guard.restart() // its rows stand where something else was
    const q = this.question
    if (!q || this.#guard.early) return
    if (action === 'hold') return void this.#hold(q, !q.held)
    switch (`${this.view} ${action}`) {
      case 'ask list':
        return void this.#together()
      case 'list deny':
        return void this.#answerList(() => false)
      case 'list answer':
        return void this.#answerList((id) => this.checked[id] ?? false)
      case 'ask one':
        return q.allowOnce && q.count > 1 ? void this.#give(q, () => this.#backend.allowOne(q.id, q.seen, this.note)) : undefined
      case 'ended again':
        return void this.#give(q, () => this.#backend.allowIfAsksAgain(q.id, q.seen))
      case 'ask deny':
        return void this.#answer(q, 'deny')
      case 'ask once':
        return q.allowOnce ? void this.#answer(q, 'allow-once') : undefined
      case 'ask always':
        return this.#turn(q.always.length > 0)
      case 'always save':
        if (this.choice.width === startWidth) return void this.#give(q, () => this.#backend.takeStartFor(q.id, q.seen, this.startFor?.start ?? ''))
        return void (q.widths.length > 0 ? this.#remember(q, this.choice) : this.#answer(q, 'allow-always'))
      case 'always back':
        return this.#turn(false)
      case 'ended close':
        return void this.#dismiss(q.id)
    }
  }

  /** Allows it as narrowly as can be, for a while. */
  allowFor(keep: Keep) {
    const q = this.question
    const narrowest = q?.widths[0]
    if (!q || !narrowest || this.view !== 'ask' || this.#guard.early) return
    void this.#remember(q, { width: narrowest.width, here: false, keep })
  }

  /** Denies it, and what is the same, for longer: for a while, or by a rule. */
  denyFor(life: string) {
    const q = this.question
    if (!q || this.view !== 'ask' || this.#guard.early) return
    const rule = /^rule-(\d+)$/.exec(life)?.[1]
    void this.#give(q, () =>
      rule === undefined ? each(q, (id) => this.#backend.denyFor(id, life, this.note)) : this.#backend.denyAlways(q.id, Number(rule), this.note),
    )
  }

  /** Ends a pause. */
  async resume() {
    if (this.#guard.early) return
    await this.#backend.resume().catch(() => undefined)
    await this.load()
  }

  async #hold(q: Question, on: boolean) {
    if (q.ended || !q.latest) return
    const said = await each(q, (id) => this.#backend.hold(id, on)).catch(() => ({ ok: false }) as Answered)
    if (!said.ok && q.id === this.#current) this.message = said.message || panel.notTaken
    await this.load()
  }

  /** Asks for the small questions of the agent, and shows them if there is more than one. */
  async #together() {
    const q = this.#shown
    if (!q) return
    const list = await this.#backend.together(q.agent.id).catch(() => [])
    if (q.agent.id !== this.#shown?.agent.id || this.#shown.ended) return
    const known = this.several
    this.several = list.length > 1 ? list : undefined
    if (JSON.stringify(known?.map((one) => one.seen)) === JSON.stringify(this.several?.map((one) => one.seen))) return
    if (!known) this.checked = {}
    this.#guard.restart() // a row may stand where another one was
  }

  /** Opens one question of the list by itself. */
  openOne(id: string) {
    this.several = undefined
    this.#wanted = id
    this.#guard.restart()
    void this.load()
  }

  /** Makes the question of one agent one of its own, and opens it. */
  async takeOut(id: string) {
    await this.#backend.takeOut(id).catch(() => undefined)
    this.openOne(id)
  }

  async #answerList(once: (id: string) => boolean) {
    const [list, agent] = [this.several, this.#shown?.agent.id]
    if (!list || agent === undefined || this.#busy.has(agent)) return
    this.#busy.add(agent)
    this.message = ''
    const replies = list.map(({ id, seen }) => ({ id, seen, decision: once(id) ? 'allow-once' : 'deny' }))
    const said = await this.#backend.answerMany(agent, replies, this.note).catch(() => list.map(() => ({ ok: false }) as Answered))
    this.#busy.delete(agent)
    const failed = said.find((a) => !a.ok)
    if (!failed) this.several = undefined
    list.forEach(({ id }, i) => said[i]?.ok && this.#forget(id))
    if (failed) this.message = failed.message || panel.notTaken
    await this.load()
  }

  #step(by: number) {
    this.several = undefined
    const n = this.live.length
    if (n === 0) return
    const from = this.#wanted || this.#current
    const at = this.live.findIndex((q) => q.id === from)
    const to = this.live[at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n]!.id
    if (to === from) return
    this.#wanted = to === this.#current ? '' : to
    this.#guard.restart() // what comes next is meant for the other one
    void this.load()
  }

  #turn(always: boolean) {
    if (this.#busy.has(this.#current) || always === this.#always) return
    this.#always = always
    this.message = ''
    if (always) void this.#consider()
    const q = this.#shown
    if (always && q?.latest && !q.held) {
      this.#held = q.id
      void this.#hold(q, true)
    } else if (!always && q && this.#held === q.id) {
      this.#held = ''
      void this.#hold(q, false)
    }
    this.#guard.restart() // other buttons stand where those were
  }

  /** Starts with the suggested width, and asks the host what each would have meant. */
  async #consider() {
    const q = this.#shown
    this.choice = suggested(q?.widths ?? [], this.startFor)
    if (!q || q.widths.length === 0 || sharing(q).length > 0) return
    if (!this.startFor) void this.#lookAtStart(q)
    if (!this.replay) await this.#replay(q)
  }

  async #lookAtStart(q: Question) {
    const found = await this.#backend.startFor(q.id).catch(() => undefined) // without it the row is missing
    // What is suggested stands first: it does not come when the rows are there.
    if (q.seen === this.#shown?.seen && found?.start) this.startFor ??= this.#always || q.risky ? { ...found, times: 0 } : found
    return this.startFor
  }

  #answer(q: Question, decision: Decision) {
    const note = decision === 'deny' ? this.note : ''
    return this.#give(q, () => this.#backend.decide(q.id, q.seen, decision, note))
  }

  #remember(q: Question, { width, here, keep }: Choice) {
    return this.#give(q, () => this.#backend.remember(q.id, q.seen, width, here, keep))
  }

  async #give(q: Question, send: () => Promise<Answered>) {
    if (this.#busy.has(q.id)) return
    this.#busy.add(q.id)
    this.message = ''
    let said: Answered
    try {
      said = await send()
    } catch {
      said = { ok: false }
    }
    this.#busy.delete(q.id)
    if (said.ok) this.#forget(q.id)
    else if (q.id === this.#current) this.message = said.message || panel.notTaken
    await this.load()
    // The host may take another question for the one that is on the page.
    if (!said.ok && this.#ready.id === this.#current) await this.#tell()
  }

  async #dismiss(id: string) {
    this.#forget(id)
    await this.#backend.dismiss(id)
    await this.load()
  }

  #forget(id: string) {
    this.#gone.add(id)
    delete this.#notes[id]
    if (this.#wanted === id) this.#wanted = ''
    this.#show(this.#list.filter((q) => q.id !== id), id, true)
  }
}

/** Does something about each question that an answer to this one is for; tells of one that it did not count for. */
async function each(q: Question, send: (id: string) => Promise<Answered>): Promise<Answered> {
  const said = await Promise.all(idsOf(q).map(send))
  return said.find((a) => !a.ok) ?? { ok: true }
}

// What is shown stays as it is when nothing about it changed, and with it
// what a person has selected in it. seen names all that is not compared here.
function same(a: Question | undefined, b: Question): boolean {
  return (
    a?.id === b.id && a.seen === b.seen && a.expires === b.expires && a.held === b.held && a.together === b.together && a.ended?.at === b.ended?.at &&
    JSON.stringify([a.agent, a.sharers]) === JSON.stringify([b.agent, b.sharers])
  )
}
