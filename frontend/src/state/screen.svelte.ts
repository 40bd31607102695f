import type { Backend } from '../lib/backend'
import type { Action, View } from '../lib/keys'
import { panel } from '../lib/text'
import type { Answered, Decision, Question, Screen } from '../lib/types'

/** How long after something new appears no answer counts, in milliseconds: it was meant for something else. */
const guard = 500

/** What the page shows, and what a person does with the questions on it. */
export class ScreenState {
  screen = $state.raw<Screen>()
  /** Why the last answer did not count. */
  message = $state('')
  /** How far the host's clock is ahead of the page's, in milliseconds. */
  offset = $state(0)
  #list = $state.raw<Question[]>([])
  #current = $state('')
  #always = $state(false)
  #notes = $state<Record<string, string>>({})

  readonly question = $derived(this.#list.find((q) => q.id === this.#current))
  readonly live = $derived(this.#list.filter((q) => !q.ended))
  /** The place of the question among the live ones, from 0; -1 for one that ended. */
  readonly index = $derived(this.live.findIndex((q) => q.id === this.#current))
  readonly view: View = $derived(this.question?.ended ? 'ended' : this.#always ? 'always' : 'ask')

  #backend: Backend
  #loading: Promise<void> | undefined
  #again = false
  #wanted = ''
  #mark = ''
  #deaf = 0
  #ready = { id: '', settings: false, height: 0 }
  #busy = new Set<string>()
  #gone = new Set<string>()

  constructor(backend: Backend) {
    this.#backend = backend
  }

  /** Follows the host until the function that it returns is called. */
  start(): () => void {
    const shown = () => document.visibilityState === 'visible' && this.#listenLater()
    document.addEventListener('visibilitychange', shown)
    const stops = [
      this.#backend.on('screen', () => void this.load()),
      this.#backend.on('open', (id) => void this.#open(id)),
      () => document.removeEventListener('visibilitychange', shown),
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
    while (this.#again) {
      this.#again = false
      try {
        this.#take(await this.#backend.screen())
      } catch (err) {
        console.error('cannot ask for the screen', err)
      }
    }
    this.#loading = undefined
  }

  async #open(id: string) {
    this.#wanted = id
    await this.load()
    if (this.#current !== id || this.#ready.id !== id) return
    this.#listenLater() // it was there already, in a window that may be hidden
    await this.#backend.ready(id, this.#ready.height)
  }

  #take(screen: Screen) {
    this.screen = screen
    this.offset = screen.now - Date.now()
    const before = new Map(this.#list.map((q) => [q.id, q]))
    const waiting = screen.waiting.filter((q) => !this.#gone.has(q.id))
    this.#show(waiting.map((q) => (same(before.get(q.id), q) ? before.get(q.id)! : q)))
    if (this.#ready.id === this.#current) void this.measured(this.#ready.id, this.#ready.height)
  }

  #show(list: Question[]) {
    const before = this.#list
    this.#list = list
    this.#go(this.#choose(before, list))
  }

  #choose(before: Question[], list: Question[]): string {
    const live = list.filter((q) => !q.ended)
    const among = (some: Question[], id: string) => some.some((q) => q.id === id)
    if (among(list, this.#wanted)) {
      const id = this.#wanted
      this.#wanted = ''
      return id
    }
    // Nobody looks at a hidden page, and only a question that is on it brings the window back.
    const fresh = document.visibilityState === 'hidden' && live.find((q) => !among(before, q.id))
    if (fresh) return fresh.id
    if (among(list, this.#current)) return this.#current
    const at = before.findIndex((q) => q.id === this.#current)
    const next = before.slice(at + 1).find((q) => among(live, q.id))
    return (next ?? live[0] ?? list[0])?.id ?? ''
  }

  #go(id: string) {
    if (id !== this.#current) {
      this.#current = id
      this.#always = false
      this.message = ''
    }
    const q = this.question
    if (!q?.always.length) this.#always = false
    const mark = q ? `${q.id} ${q.seen} ${q.ended?.reason ?? ''}` : ''
    if (mark !== this.#mark) this.#listenLater()
    this.#mark = mark
    if (!q) this.#ready = { id: '', settings: false, height: 0 }
  }

  #listenLater() {
    this.#deaf = performance.now() + guard
  }

  /** The question is in the page and wants this height, in points. */
  async measured(id: string, height: number) {
    const settings = this.screen?.settings ?? false
    const told = this.#ready
    if (id !== this.#current || (told.id === id && told.settings === settings && told.height === height)) return
    this.#ready = { id, settings, height }
    await this.#backend.ready(id, height)
    if (told.id !== id && id === this.#current) this.#listenLater() // the window may have appeared only now
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
    const q = this.question
    if (!q || performance.now() < this.#deaf) return
    switch (`${this.view} ${action}`) {
      case 'ask deny':
        return void this.#answer(q, 'deny')
      case 'ask once':
        return q.allowOnce ? void this.#answer(q, 'allow-once') : undefined
      case 'ask always':
        return this.#turn(q.always.length > 0)
      case 'always save':
        return void this.#answer(q, 'allow-always')
      case 'always back':
        return this.#turn(false)
      case 'ended close':
        return void this.#dismiss(q.id)
    }
  }

  #step(by: number) {
    const n = this.live.length
    if (n === 0) return
    const at = this.index < 0 ? (by > 0 ? 0 : n - 1) : (this.index + by + n) % n
    this.#go(this.live[at]!.id)
  }

  #turn(always: boolean) {
    if (this.#busy.has(this.#current) || always === this.#always) return
    this.#always = always
    this.message = ''
    this.#listenLater() // other buttons stand where those were
  }

  async #answer(q: Question, decision: Decision) {
    if (this.#busy.has(q.id)) return
    this.#busy.add(q.id)
    this.message = ''
    const note = decision === 'deny' ? this.note : ''
    let said: Answered
    try {
      said = await this.#backend.decide(q.id, q.seen, decision, note)
    } catch {
      said = { ok: false }
    }
    this.#busy.delete(q.id)
    if (said.ok) this.#forget(q.id)
    else if (q.id === this.#current) this.message = said.message || panel.notTaken
    await this.load()
  }

  async #dismiss(id: string) {
    this.#forget(id)
    await this.#backend.dismiss(id)
    await this.load()
  }

  #forget(id: string) {
    this.#gone.add(id)
    delete this.#notes[id]
    this.#show(this.#list.filter((q) => q.id !== id))
  }
}

// What is shown stays as it is when nothing about it changed, and with it
// what a person has selected in it. seen names all that is not compared here.
function same(a: Question | undefined, b: Question): boolean {
  return a?.seen === b.seen && a.expires === b.expires && a.ended?.at === b.ended?.at && a.agent.name === b.agent.name
}
