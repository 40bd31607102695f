import { tick } from 'svelte'
import type { Backend } from '../lib/backend'
import { Guard } from '../lib/guard'
import type {
  AgentRow, DenyRow, EntryRow, EntryWarning, HistorySize, Hook, HookChange, HookTrial, Host, Import, Lists, Mode, Permissions, Policy, Preferences, Saved, Screen,
  Standing, Suggestion, Warnings, Word, WordList,
} from '../lib/types'
import { transfer } from '../lib/text'
import type { Choice } from './screen.svelte'
import { DenyForm, EntryForm, WordForm } from './forms.svelte'

export type Page = 'agents' | 'activity' | 'try' | 'node' | 'hooks' | 'permissions' | 'general'

/** What became of the last edit. */
export type Note = { kind: 'none' | 'saved' | 'undone' | 'conflict' } | { kind: 'problem'; message: string }

const none: Note = { kind: 'none' }

/** How often times that are told as "2 min ago" are told anew, and the host is looked at. */
const clock = 15_000

/** How long what is there of a long list has to appear before the rest is asked for. */
const afterwards = 100

/** Everything that the settings show, and all they can do. */
export class SettingsState {
  page = $state<Page>('agents')
  agents = $state.raw<AgentRow[]>([])
  policy = $state.raw<Policy>()
  host = $state.raw<Host>()
  preferences = $state.raw<Preferences>()
  permissions = $state.raw<Permissions>({ list: [] })
  hooks = $state.raw<Hook[]>([])
  /** The change to the settings of an agent that is shown, before it is made. */
  hookChange = $state.raw<HookChange>()
  hookTrial = $state.raw<HookTrial>()
  warnings = $state.raw<Warnings>({ list: [], partial: false })
  lists = $state.raw<Lists>()
  size = $state.raw<HistorySize>()
  /** Answers that stand for requests to come. */
  standing = $state.raw<Standing[]>([])
  note = $state.raw<Note>(none)
  canUndo = $state(false)
  /** Counts edits that were not taken, so that controls go back to what holds. */
  refused = $state(0)
  /** A question stands above the settings: nothing is edited. */
  covered = $state(false)
  /** A list of entries that was read from a file, before it is added. */
  imported = $state.raw<Import>()
  /** Where a list was written to. */
  exported = $state('')
  form = $state.raw<EntryForm | DenyForm | WordForm>()
  /** The entry that was added last. */
  added = $state('')
  now = $state(Date.now())
  #backend: Backend
  #agentId = ''
  #ahead = 0 // of the host's clock against ours
  #looks = 0 // what was asked for in an earlier look is not shown
  #turn = 0 // of the menu
  #surveyed = '' // agent and revision of what was looked at
  #guard = new Guard()
  #edits: Promise<unknown> = Promise.resolve()

  constructor(backend: Backend) {
    this.#backend = backend
  }

  /** Loads everything, and keeps it up to date until the answer is called. */
  start(): () => void {
    void this.lookAtPermissions()
    void this.reload().then(tick).then(() => this.#backend.settingsReady()).then(() => this.#guard.restart())
    const ends = [
      this.#backend.on('policy', () => void this.reload()),
      this.#backend.on('screen', () => void this.#loadAgents()),
      this.#guard.follow(),
    ]
    const timer = setInterval(() => {
      this.now = Date.now() + this.#ahead
      void this.#backend.host().then((host) => this.#meet(host), () => undefined) // a disk fills without a word
    }, clock)
    return () => {
      clearInterval(timer)
      ends.forEach((end) => end())
    }
  }

  /** Takes what the whole page shows, and goes to what a person asked for in the menu. */
  see(screen: Screen, covered: boolean) {
    this.#ahead = screen.now - Date.now()
    this.now = screen.now
    if (this.covered && !covered) this.#guard.restart()
    this.covered = covered
    const asked = screen.turn > this.#turn
    this.#turn = screen.turn
    if (asked && (screen.page === 'hooks' || screen.page === 'general')) this.go(screen.page)
    if (!asked || !screen.agent) return
    this.go('agents')
    void this.choose(screen.agent)
  }

  /** Shows another page. */
  go(page: Page) {
    this.page = page
    this.forget()
    if (page === 'general') void this.#measure()
    if (page === 'general') void this.#queue(async () => this.#meet(await this.#backend.host()))
    if (page === 'permissions') void this.lookAtPermissions()
    if (page === 'hooks') void this.lookAtHooks()
  }

  /** Looks again at what macOS lets commands do. It tells nobody when that changes. */
  async lookAtPermissions() {
    this.permissions = await this.#backend.permissions().catch(() => this.permissions)
  }

  /** Looks again at the settings of other agents, which anybody can edit. */
  async lookAtHooks() {
    this.hookChange = this.hookTrial = undefined
    this.hooks = await this.#backend.hooks().catch(() => this.hooks)
  }

  /** Shows what putting our hook in, or taking it out, would change. */
  planHook(agent: string, undo: boolean) {
    return this.#queue(async () => {
      this.hookTrial = undefined
      this.hookChange = await this.#backend.planHook(agent, undo)
    })
  }

  /** Makes the change that is shown. */
  applyHook() {
    return this.#queue(async () => {
      const { ok, message } = await this.#backend.applyHook(this.hookChange?.id ?? '')
      this.note = ok ? none : { kind: 'problem', message: message ?? '' }
      await this.lookAtHooks()
    })
  }

  /** Tries what an agent would do with a harmless command. */
  tryHook(agent: string) {
    return this.#queue(async () => {
      this.hookChange = undefined
      this.hookTrial = await this.#backend.tryHook(agent)
    })
  }

  leaveHook() {
    this.hookChange = this.hookTrial = undefined
  }

  /** Has macOS ask for a permission. */
  requestPermission(id: string) {
    return this.#permit(() => this.#backend.requestPermission(id))
  }

  /** Shows a permission in System Settings. */
  openPermission(id: string) {
    return this.#permit(() => this.#backend.openPermission(id))
  }

  #permit(act: () => Promise<Saved>) {
    return this.#queue(async () => {
      const { ok, message } = await act()
      this.note = ok ? none : { kind: 'problem', message: message ?? '' }
      await this.lookAtPermissions()
    })
  }

  async #measure() {
    this.size = await this.#backend.historySize().catch(() => undefined)
    this.standing = await this.#backend.standing().catch(() => [])
  }

  async #loadAgents() {
    this.agents = await this.#backend.agents()
  }

  /** Looks again at what holds. */
  async reload() {
    try {
      await this.#loadAgents()
      this.#meet(await this.#backend.host())
      this.#agentId ||= this.#first()
      if (this.#agentId) await this.#load()
      this.preferences = await this.#backend.preferences()
    } catch (error) {
      this.note = { kind: 'problem', message: String(error) }
    }
  }

  #meet(host: Host) {
    if (host.heldHash !== this.host?.heldHash) this.#guard.restart()
    this.host = host
    if (host.canUndo) this.canUndo = true // a terminal may have changed something
  }

  /** Who is shown first: who waits, else who asked last, else every agent. */
  #first(): string {
    const last = this.host?.lastAgent
    const row = this.agents.find((a) => a.waiting > 0) ?? this.agents.find((a) => a.agent.id === last) ?? this.agents[0]
    return row?.agent.id ?? ''
  }

  async #load() {
    const look = ++this.#looks
    const begun = await this.#backend.policy(this.#agentId)
    const known = this.policy?.agent.id === begun.agent.id
    if (!known && look === this.#looks) this.#show(begun) // a long list holds up nothing
    const policy = await this.#whole(begun)
    if (policy && look === this.#looks && (known || policy !== begun)) this.#show(policy)
  }

  /** A policy with all entries of a long list, unless it is not what holds any more. */
  async #whole(policy: Policy): Promise<Policy | undefined> {
    const { agent, rev, entries } = policy
    if (policy.allowlist.length >= entries) return policy
    await new Promise((done) => setTimeout(done, afterwards))
    const allowlist: EntryRow[] = []
    while (allowlist.length < entries) {
      const rows = await this.#backend.entries(agent.id, rev, allowlist.length)
      if (!rows.length) return undefined // who changed it tells
      allowlist.push(...rows)
    }
    return { ...policy, allowlist }
  }

  #show(policy: Policy) {
    const before = this.policy
    this.policy = policy
    this.form?.seen(policy)
    const other = before?.agent.id !== policy.agent.id
    if (other) {
      this.warnings = { list: [], partial: false }
      this.lists = undefined
      this.#surveyed = ''
    }
    const name = `${policy.agent.id} ${policy.rev}`
    if (policy.allowlist.length < policy.entries || name === this.#surveyed) return
    this.#surveyed = name
    void this.#survey(policy)
  }

  /** Has the entries looked at, and what stands beside them. The table does not wait for it. */
  async #survey({ agent, rev }: Policy) {
    const same = () => this.policy?.agent.id === agent.id && this.policy.rev === rev
    const lists = await this.#backend.lists(agent.id).catch(() => undefined)
    if (same()) this.lists = lists
    const warnings = await this.#backend.warnings(agent.id).catch((): Warnings => ({ list: [], partial: true }))
    if (same()) this.warnings = warnings
  }

  removeFrom(list: WordList, text: string) {
    return this.#edit((id, rev) => this.#backend.removeFrom(id, rev, list, text))
  }

  /** Lets tests, builds, local git work and edits of a project run, which run what its files say. */
  allowProject(folder: string) {
    return this.#edit((id, rev) => this.#backend.allowProject(id, rev, folder))
  }

  setAutoSkills(on: boolean) {
    return this.#edit((id, rev) => this.#backend.setWord(id, rev, 'autoAllowSkills', String(on)))
  }

  setAnswersFrom(gateway: string, on: boolean) {
    return this.#edit((id, rev) => this.#backend.setAnswersFrom(id, rev, gateway, on))
  }

  /** Does about an entry what its warning offers. */
  repair(entry: EntryRow, { kind }: EntryWarning) {
    if (kind === 'unused') return this.switchEntry(entry, false)
    if (kind === 'nothing' || kind === 'code') return this.removeEntry(entry)
    return this.change(entry)
  }

  /** Shows another agent. */
  async choose(agentId: string) {
    this.#agentId = agentId
    this.forget()
    await this.#load()
  }

  /** Takes away what is said about the last edit. */
  forget() {
    this.note = none
    this.exported = ''
  }

  /** Writes the allowlist to a file that the person chooses. */
  exportList() {
    return this.#transfer(async (id) => {
      const { file, message, rows } = await this.#backend.exportAllowlist(id)
      if (message) this.note = { kind: 'problem', message }
      else if (file) this.exported = transfer.exported(rows, file)
    })
  }

  /** Reads a list from a file that the person chooses, to be looked at. */
  chooseImport() {
    return this.#transfer(async (id) => {
      const list = await this.#backend.chooseImport(id)
      if (list.problem) this.note = { kind: 'problem', message: list.problem }
      else if (list.file && this.policy?.agent.id === id) this.imported = list
    })
  }

  async #transfer(work: (agentId: string) => Promise<void>) {
    const id = this.policy?.agent.id
    if (!id || this.covered) return
    this.forget()
    await work(id).catch((error: unknown) => (this.note = { kind: 'problem', message: String(error) }))
  }

  /** Adds the list that is shown. */
  takeImport() {
    const list = this.imported
    this.imported = undefined
    if (!list) return Promise.resolve()
    return this.#edit((id, rev) => this.#backend.takeImport(id, rev, list.token))
  }

  closeImport() {
    this.imported = undefined
  }

  setMode(mode: Mode) {
    return this.#edit((id, rev) => this.#backend.setMode(id, rev, mode))
  }

  setWord(word: Word, value: string) {
    return this.#edit((id, rev) => this.#backend.setWord(id, rev, word, value))
  }

  switchEntry(entry: EntryRow, on: boolean) {
    return this.#edit((id, rev) => this.#backend.switchEntry(id, rev, entry.id, on))
  }

  removeEntry(entry: EntryRow) {
    return this.#edit((id, rev) => this.#backend.removeEntry(id, rev, entry.id))
  }

  removeDeny(rule: DenyRow) {
    const exact = { ...rule.exact, args: rule.exact.args ?? [] }
    return this.#edit((id, rev) => this.#backend.removeDeny(id, rev, exact))
  }

  /**
   * Edits what is shown. Edits of one person follow each other: the second
   * one of a quick pair goes with what the first one left.
   */
  #edit(send: (agentId: string, rev: string) => Promise<Saved>) {
    const shown = this.policy
    if (!shown) return Promise.resolve()
    return this.#queue(async () => {
      const now = this.policy?.agent.id === shown.agent.id ? this.policy : shown
      this.#take(await send(now.agent.id, now.rev))
    })
  }

  #queue(work: () => Promise<void>): Promise<void> {
    if (this.covered) {
      this.refused++
      return Promise.resolve()
    }
    const next = this.#edits.then(work).catch((error: unknown) => {
      this.refused++
      this.note = { kind: 'problem', message: String(error) }
    })
    this.#edits = next
    return next
  }

  #take(saved: Saved, done: 'saved' | 'undone' = 'saved') {
    if (saved.policy) {
      this.canUndo = saved.canUndo
      if (saved.policy.agent.id === this.#agentId) {
        this.#looks++
        this.#show(saved.policy)
      }
    }
    if (!saved.ok) this.refused++
    this.note = saved.ok ? { kind: done } : saved.conflict ? { kind: 'conflict' } : { kind: 'problem', message: saved.message ?? '' }
    void this.reload()
  }

  /** Takes the last edit back, and shows whose settings it was in. */
  undo() {
    return this.#queue(async () => {
      const saved = await this.#backend.undo()
      if (!saved.policy) this.canUndo = saved.canUndo
      else if (saved.ok) this.#agentId = saved.policy.agent.id
      this.#take(saved, 'undone')
    })
  }

  add(kind: 'entry' | 'rule' | WordList) {
    if (!this.policy) return
    if (kind === 'entry') this.form = new EntryForm(this.#backend, this.policy)
    else if (kind === 'rule') this.form = new DenyForm(this.#backend, this.policy)
    else this.form = new WordForm(this.#backend, this.policy, kind)
  }

  /** Shows an entry that was suggested, to be looked at, changed and saved, or not. */
  async suggest({ agent, exact }: Suggestion) {
    if (!exact) return
    this.go('agents')
    await this.choose(agent.id)
    if (this.policy?.agent.id === agent.id) this.form = EntryForm.of(this.#backend, this.policy, exact)
  }

  /** Takes an answer back that stands. */
  forgetAnswer(id: string) {
    return this.#queue(async () => {
      const { ok, message } = await this.#backend.forget(id)
      this.#take({ ok, message, conflict: false, canUndo: this.canUndo })
      this.standing = await this.#backend.standing()
    })
  }

  /** Has the login environment of commands read again. */
  readEnvironment() {
    return this.#queue(async () => {
      const { ok, message } = await this.#backend.readEnvironment()
      this.note = ok ? none : { kind: 'problem', message: message ?? '' }
      this.#meet(await this.#backend.host())
    })
  }

  /** Starts the version that has taken the place of this one. */
  restart() {
    return this.#queue(async () => {
      const { ok, message } = await this.#backend.restart()
      this.note = ok ? none : { kind: 'problem', message: message ?? '' }
    })
  }

  /** Ends a pause, or says why not. */
  resume() {
    return this.#queue(async () => {
      const { ok, message } = await this.#backend.resume()
      this.note = ok ? none : { kind: 'problem', message: message ?? '' }
    })
  }

  /** Has a suggestion not come again, and reports whether that was noted. */
  async turnDown(id: string): Promise<boolean> {
    let ok = false
    await this.#queue(async () => {
      const saved = await this.#backend.turnDown(id)
      ok = saved.ok
      this.note = ok ? none : { kind: 'problem', message: saved.message ?? '' }
    })
    return ok
  }

  /** Saves the entries of a suggestion as they were shown, and reports whether they were. */
  addSuggested(id: string): Promise<boolean> {
    return this.#added(() => this.#backend.addSuggested(id))
  }

  /** Makes a recorded request an entry, and reports whether it is one. */
  keepOffered(id: string, { width, here, keep }: Choice): Promise<boolean> {
    return this.#added(() => this.#backend.keepOffered(id, width, here, keep))
  }

  /** Saves entries of an agent who may not be the one that is shown. */
  async #added(send: () => Promise<Saved>): Promise<boolean> {
    let ok = false
    await this.#queue(async () => {
      const saved = await send()
      if (saved.ok && saved.policy) this.#agentId = saved.policy.agent.id
      this.#take(saved)
      ok = saved.ok
    })
    return ok
  }

  change(entry: EntryRow) {
    if (this.policy && entry.from === 'here') this.form = new EntryForm(this.#backend, this.policy, entry)
  }

  closeForm() {
    this.form = undefined
  }

  /** Saves the open form. What could not be saved stays in it. */
  saveForm() {
    const form = this.form
    if (!form || form.blocked) return Promise.resolve()
    form.busy = true
    const before = new Set(this.policy?.allowlist.map((e) => e.id))
    return this.#queue(async () => {
      const saved = await form.send().catch((error: unknown): Saved => ({ ok: false, conflict: false, message: String(error), canUndo: this.canUndo }))
      if (saved.ok && this.form === form) this.form = undefined
      if (saved.conflict) form.conflict(saved.policy)
      else form.problem = saved.message ?? ''
      this.#take(saved)
      if (saved.ok) this.added = saved.policy?.allowlist.find((e) => !before.has(e.id))?.id ?? ''
    }).finally(() => (form.busy = false))
  }

  /** Answers an edit of the file that waits: the one that was shown, and for long enough. */
  answerEdit(hash: string, accept: boolean) {
    if (this.#guard.early) return Promise.resolve()
    return this.#queue(async () => {
      if (this.host?.heldHash !== hash) return
      const { ok, message } = await this.#backend.answerEdit(hash, accept)
      this.#take({ ok, message, conflict: false, canUndo: this.canUndo })
      this.#meet(await this.#backend.host())
    })
  }

  /** Chooses something about the app itself. */
  prefer(change: Partial<Preferences>) {
    return this.#queue(async () => {
      if (this.preferences) this.#take(await this.#backend.setPreferences({ ...this.preferences, ...change }))
      this.preferences = await this.#backend.preferences()
    })
  }
}
