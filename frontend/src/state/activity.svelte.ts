import type { Backend } from '../lib/backend'
import { activity as text } from '../lib/text'
import { suggested, type Choice } from './screen.svelte'
import type { ActivityFilter, ActivityRecord, ActivityRow, Agent, Offered, Rates, Stops, Suggestion } from '../lib/types'

/** How long nothing is typed before it is looked for, in milliseconds. */
const pause = 200

/** The history as far as it was read, and what is open of it. */
export class ActivityState {
  filter = $state.raw<ActivityFilter>({ agent: '', outcome: '', reason: '', text: '', time: '7-days' })
  rows = $state.raw<ActivityRow[]>([])
  more = $state(false)
  reading = $state(true)
  problem = $state('')
  rates = $state.raw<Rates>()
  stops = $state.raw<Stops>()
  agents = $state.raw<Agent[]>([])
  suggestions = $state.raw<Suggestion[]>([])
  record = $state.raw<ActivityRecord>()
  /** How what the open request ran can be allowed from now on, once that was asked for. */
  offered = $state.raw<Offered>()
  choice = $state.raw<Choice>(suggested([]))
  /** What became of a suggestion, for those who do not see it go. */
  told = $state('')
  /** What became of the last export. */
  exported = $state('')
  exporting = $state(false)
  #backend: Backend
  #later = new Set<string>()
  #turn = 0 // what an earlier look found is not shown
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(backend: Backend) {
    this.#backend = backend
  }

  /** Reads what the page shows, and again when a question came or went, until the answer is called. */
  start(): () => void {
    void this.look().then(() => this.#around())
    const ends = [this.#backend.on('screen', () => this.#renew()), this.#backend.on('policy', () => this.#renew())]
    return () => {
      clearTimeout(this.#timer)
      this.#turn++
      ends.forEach((end) => end())
    }
  }

  /** Who was asked about, how often, and what would help. The table does not wait for it. */
  async #around() {
    try {
      this.agents = await this.#backend.activityAgents()
      this.suggestions = (await this.#backend.suggestions()).filter((s) => !this.#later.has(s.id))
      this.rates = await this.#backend.rates()
      this.stops = await this.#backend.stops()
    } catch (error) {
      this.problem = String(error)
    }
  }

  /** New rows are shown where a person has not gone on to older ones. */
  #renew() {
    if (!this.more || this.rows.length <= firstPage) this.#soon()
  }

  #soon() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.look(), pause)
  }

  /** Looks for something else. What is typed waits until nothing more is. */
  set(change: Partial<ActivityFilter>) {
    this.filter = { ...this.filter, ...change }
    if (change.text === undefined) void this.look()
    else this.#soon()
  }

  get filtered() {
    const { agent, outcome, reason, text, time } = this.filter
    return !!(agent || outcome || reason || text.trim() || time)
  }

  /** Reads the newest rows. */
  async look() {
    clearTimeout(this.#timer)
    const turn = ++this.#turn
    this.reading = true
    await this.#read(turn, 0, [])
  }

  /** Reads what comes after the last row. */
  async next() {
    const last = this.rows.at(-1)
    if (this.reading || !this.more || !last) return
    this.reading = true
    await this.#read(this.#turn, last.n, this.rows)
  }

  async #read(turn: number, before: number, have: ActivityRow[]) {
    try {
      const page = await this.#backend.activity(this.filter, before)
      if (turn !== this.#turn) return
      this.rows = have.length ? have.concat(page.rows) : page.rows
      this.more = page.more && page.rows.length > 0
      this.problem = page.problem ?? ''
    } catch (error) {
      if (turn !== this.#turn) return
      this.more = false
      this.problem = String(error)
    }
    this.reading = false
  }

  async open(row: ActivityRow) {
    try {
      this.record = await this.#backend.record(row.id)
    } catch (error) {
      this.problem = String(error)
    }
  }

  close() {
    this.record = undefined
    this.offered = undefined
  }

  /** Asks how the open request can be allowed from now on. The suggested width is chosen. */
  async offer() {
    const id = this.record?.id
    if (!id) return
    try {
      const offered = await this.#backend.offered(id)
      if (this.record?.id !== id) return
      this.choice = suggested(offered.widths)
      this.offered = offered
    } catch (error) {
      this.problem = String(error)
    }
  }

  /** Goes back to what is known of the request. */
  leaveOffer() {
    this.offered = undefined
  }

  /** Hides a suggestion until the page is opened again. */
  later(id: string) {
    this.#later.add(id)
    this.suggestions = this.suggestions.filter((s) => s.id !== id)
  }

  /** Hides a suggestion that does not come again. */
  never(id: string) {
    this.later(id)
    this.told = text.turnedDown
  }

  async export() {
    this.exporting = true
    this.exported = ''
    try {
      const { message, file, rows } = await this.#backend.exportActivity(this.filter)
      this.exported = message ?? (file ? text.exported(rows, file) : '')
    } catch (error) {
      this.exported = String(error)
    }
    this.exporting = false
  }
}

/** How many rows the first page has at most. */
const firstPage = 200
