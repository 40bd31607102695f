import type { Backend } from '../lib/backend'
import { Guard } from '../lib/guard'
import { change as text } from '../lib/text'

/** What a yes or a no came to. */
type Said = { ok: boolean; message?: string }

/** Something beside the questions that the panel asks about: a change of a terminal, a folder that may be a project, or an edit from outside. The answer is a yes or a no, or one of the words of a folder. */
export class AskedState<T extends { id: string }, A = boolean> {
  now = $state.raw<T>()
  /** Why the last answer did not count. */
  message = $state('')

  #backend: Backend
  #send: (asked: T, answer: A) => Promise<Said>
  #guard = new Guard()
  #busy = false

  constructor(backend: Backend, send: (asked: T, answer: A) => Promise<Said>) {
    this.#backend = backend
    this.#send = send
  }

  /** Follows the window until the function that it returns is called. */
  start(): () => void {
    return this.#guard.follow()
  }

  /** Takes what is to be on the page, nothing where something else is. */
  see(next: T | undefined) {
    if (next?.id === this.now?.id) return
    this.now = next
    this.message = ''
    this.#guard.restart()
  }

  /** It is on the page and wants this height, in points. */
  async measured(id: string, height: number) {
    if (id !== this.now?.id) return
    try {
      await this.#backend.ready(id, height)
    } catch (err) {
      console.error('cannot say what is on the page', err)
    }
    this.#guard.restart() // the window may have appeared, or changed, only now
  }

  /** Answers all of it. */
  async answer(answer: A) {
    const asked = this.now
    if (!asked || this.#busy || this.#guard.early) return
    this.#busy = true
    this.message = ''
    const said = await this.#send(asked, answer).catch((): Said => ({ ok: false }))
    this.#busy = false
    if (this.now?.id !== asked.id) return
    if (said.ok) this.now = undefined
    else this.message = said.message || text.notTaken
  }

  /** Leaves an edit to the settings. */
  async later() {
    if (!this.now || this.#guard.early) return
    this.now = undefined
    await this.#backend.leaveEdit()
  }
}
