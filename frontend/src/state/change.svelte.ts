import type { Backend } from '../lib/backend'
import { Guard } from '../lib/guard'
import { change as text } from '../lib/text'
import type { Answered, Change, Screen } from '../lib/types'

/** What a command line wants to change, on the panel before anything else. */
export class ChangeState {
  change = $state.raw<Change>()
  /** Why the last answer did not count. */
  message = $state('')

  #backend: Backend
  #guard = new Guard()
  #busy = false

  constructor(backend: Backend) {
    this.#backend = backend
  }

  /** Follows the window until the function that it returns is called. */
  start(): () => void {
    return this.#guard.follow()
  }

  /** Looks at a screen that the host gave. */
  see(screen: Screen | undefined) {
    const next = screen?.change
    if (next?.id === this.change?.id) return
    this.change = next
    this.message = ''
    this.#guard.restart()
  }

  /** The change is on the page and wants this height, in points. */
  async measured(id: string, height: number) {
    if (id !== this.change?.id) return
    try {
      await this.#backend.ready(id, height)
    } catch (err) {
      console.error('cannot say that the change is on the page', err)
    }
    this.#guard.restart() // the window may have appeared, or changed, only now
  }

  /** Accepts the change, all of it, or says no. */
  async answer(accept: boolean) {
    const change = this.change
    if (!change || this.#busy || this.#guard.early) return
    this.#busy = true
    this.message = ''
    let said: Answered
    try {
      said = await this.#backend.answerChange(change.id, accept)
    } catch {
      said = { ok: false }
    }
    this.#busy = false
    if (this.change?.id !== change.id) return
    if (said.ok) this.change = undefined
    else this.message = said.message || text.notTaken
  }
}
