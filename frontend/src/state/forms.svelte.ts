import type { Backend } from '../lib/backend'
import { settings as text } from '../lib/text'
import type { DenyEdit, EntryEdit, EntryRow, Policy, Preview, Saved, WordList } from '../lib/types'

const same = (a: EntryEdit, b: EntryEdit) => JSON.stringify(whole(a)) === JSON.stringify(whole(b))

/** An edit in which what Go left out is there. */
const whole = (e: EntryEdit): EntryEdit => ({
  pattern: e.pattern, args: e.args ?? [], argsExact: e.argsExact, cwd: e.cwd ?? '', note: e.note ?? '',
})

/** Arguments as lines. Blank lines at the end are no arguments. */
const lines = (typed: string) => {
  const list = typed.split('\n')
  while (list.at(-1) === '') list.pop()
  return list
}

/** Whether a text area can hold these arguments and give the same ones back. */
const fits = (args: string[]) => args.at(-1) !== '' && !args.some((a) => /[\r\n]/.test(a))

/**
 * An entry while it is written. It belongs to the settings that were shown
 * when it was opened, so that it never overwrites what it did not show.
 */
export class EntryForm {
  readonly kind = 'entry'
  readonly agentId: string
  /** What the form was opened with; none for a new entry. */
  readonly opened?: EntryRow
  readonly argsFit: boolean
  pattern = $state('')
  args = $state('')
  argsExact = $state(false)
  cwd = $state('')
  note = $state('')
  preview = $state.raw<Preview>()
  problem = $state('')
  busy = $state(false)
  #backend: Backend
  #rev: string
  #id?: string
  #was?: EntryEdit
  #looks = 0

  constructor(backend: Backend, policy: Policy, row?: EntryRow) {
    this.#backend = backend
    this.agentId = policy.agent.id
    this.#rev = policy.rev
    this.opened = row
    this.argsFit = !row || fits(row.exact.args ?? [])
    if (!row) return
    this.#id = row.id
    this.#was = whole(row.exact)
    this.pattern = this.#was.pattern
    this.args = this.#was.args.join('\n')
    this.argsExact = this.#was.argsExact
    this.cwd = this.#was.cwd
    this.note = this.#was.note
  }

  /** A new entry that somebody else wrote. */
  static of(backend: Backend, policy: Policy, edit: EntryEdit): EntryForm {
    const form = new EntryForm(backend, policy)
    const { pattern, args, argsExact, cwd, note } = whole(edit)
    form.pattern = pattern
    form.args = args.join('\n')
    form.argsExact = argsExact
    form.cwd = cwd
    form.note = note
    return form
  }

  get edit(): EntryEdit {
    return {
      pattern: this.pattern, args: this.argsFit ? lines(this.args) : (this.opened?.exact.args ?? []),
      argsExact: this.argsExact, cwd: this.cwd, note: this.note.trim(),
    }
  }

  get blocked() {
    return this.busy || !this.pattern.trim() || !!this.preview?.problem
  }

  /** Asks what an edit would match. Only the answer to the last one counts. */
  async look(edit: EntryEdit) {
    const turn = ++this.#looks
    const preview = edit.pattern ? await this.#backend.preview(this.agentId, edit) : undefined
    if (turn === this.#looks) this.preview = preview
  }

  send(): Promise<Saved> {
    return this.#id
      ? this.#backend.changeEntry(this.agentId, this.#rev, this.#id, this.edit)
      : this.#backend.addEntry(this.agentId, this.#rev, this.edit)
  }

  /** The policy changed while the form was open. What it edits did not, or it says so when it is saved. */
  seen(policy: Policy) {
    if (policy.agent.id !== this.agentId) return
    const now = this.#row(policy)
    if (!this.#id || (now && this.#was && same(now.exact, this.#was))) this.#rev = policy.rev
  }

  /** Nothing was saved, and the person is told so: the next save counts for what holds now. */
  conflict(policy?: Policy) {
    if (!policy || policy.agent.id !== this.agentId) return
    const now = this.#row(policy)
    this.problem = this.#id && !now ? text.conflictGone : text.conflictForm
    this.#rev = policy.rev
    this.#was = now && whole(now.exact)
    if (!now) this.#id = undefined
  }

  #row(policy: Policy) {
    return policy.allowlist.find((r) => r.id === this.#id && r.from === 'here')
  }
}

/** A rule of the denylist while it is written. */
export class DenyForm {
  readonly kind = 'rule'
  readonly agentId: string
  pattern = $state('')
  args = $state('')
  reason = $state('')
  problem = $state('')
  busy = $state(false)
  #backend: Backend
  #rev: string

  constructor(backend: Backend, policy: Policy) {
    this.#backend = backend
    this.agentId = policy.agent.id
    this.#rev = policy.rev
  }

  get edit(): DenyEdit {
    return { pattern: this.pattern, args: lines(this.args), reason: this.reason.trim() }
  }

  get blocked() {
    return this.busy || !this.pattern.trim()
  }

  send(): Promise<Saved> {
    return this.#backend.addDeny(this.agentId, this.#rev, this.edit)
  }

  seen(policy: Policy) {
    if (policy.agent.id === this.agentId) this.#rev = policy.rev
  }

  conflict(policy?: Policy) {
    this.problem = text.conflictForm
    if (policy) this.seen(policy)
  }
}

/** A word for one of the lists that hold words. */
export class WordForm {
  readonly kind = 'word'
  readonly agentId: string
  readonly list: WordList
  word = $state('')
  problem = $state('')
  busy = $state(false)
  #backend: Backend
  #rev: string

  constructor(backend: Backend, policy: Policy, list: WordList) {
    this.#backend = backend
    this.agentId = policy.agent.id
    this.#rev = policy.rev
    this.list = list
  }

  get blocked() {
    return this.busy || !this.word.trim()
  }

  send(): Promise<Saved> {
    return this.#backend.addTo(this.agentId, this.#rev, this.list, this.word)
  }

  seen(policy: Policy) {
    if (policy.agent.id === this.agentId) this.#rev = policy.rev
  }

  conflict(policy?: Policy) {
    this.problem = text.conflictForm
    if (policy) this.seen(policy)
  }
}
