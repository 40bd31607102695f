import type { Backend } from '../lib/backend'
import { Guard } from '../lib/guard'
import { outside } from '../lib/text'
import type { Edit, Saved, Screen } from '../lib/types'

/** An edit of the policy file from outside, on the panel when no question is and the settings are closed. */
export class EditState {
  edit = $state.raw<Edit>()
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

  /** Looks at a screen that the host gave; covered tells that a question is on the page, or on its way to it. */
  see(screen: Screen | undefined, covered: boolean) {
    const next = screen && !screen.settings && !covered ? screen.edit : undefined
    if (next?.id === this.edit?.id) return
    this.edit = next
    this.message = ''
    this.#guard.restart()
  }

  /** The edit is on the page and wants this height, in points. */
  async measured(id: string, height: number) {
    if (id !== this.edit?.id) return
    try {
      await this.#backend.ready(id, height)
    } catch (err) {
      console.error('cannot say that the edit is on the page', err)
    }
    this.#guard.restart() // the window may have appeared, or changed, only now
  }

  /** Takes the edit, or puts back what was there before it. */
  async answer(take: boolean) {
    const edit = this.edit
    if (!edit || this.#busy || this.#guard.early) return
    this.#busy = true
    this.message = ''
    let said: Pick<Saved, 'ok' | 'message'>
    try {
      said = await this.#backend.answerEdit(edit.hash, take)
    } catch {
      said = { ok: false }
    }
    this.#busy = false
    if (said.ok && this.edit?.id === edit.id) this.edit = undefined
    else if (!said.ok && this.edit?.id === edit.id) this.message = said.message || outside.notTaken
  }

  /** Leaves the edit to the settings. */
  async later() {
    if (!this.edit || this.#guard.early) return
    this.edit = undefined
    await this.#backend.leaveEdit()
  }
}
