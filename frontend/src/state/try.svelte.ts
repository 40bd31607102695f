import type { Backend } from '../lib/backend'
import type { Trial } from '../lib/types'

/** How long nothing is typed before it is judged, in milliseconds. */
const pause = 200

/** A command that is tried. What was typed stays when another page is shown. */
export class TryState {
  command = $state('')
  agent = $state('')
  folder = $state('~')
  trial = $state.raw<Trial>()
  problem = $state('')
  #backend: Backend
  #turn = 0 // only the answer to the last question counts
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(backend: Backend) {
    this.#backend = backend
  }

  /** Judges what is there now, when nothing more is typed. */
  soon() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.look(), pause)
  }

  async look() {
    clearTimeout(this.#timer)
    const turn = ++this.#turn
    const [command, agent, folder] = [this.command, this.agent, this.folder]
    let trial: Trial | undefined
    let problem = ''
    try {
      if (command.trim()) trial = await this.#backend.tryCommand(command, agent, folder)
    } catch (error) {
      problem = String(error)
    }
    if (turn !== this.#turn) return
    this.trial = trial?.problem ? undefined : trial
    this.problem = trial?.problem ?? problem
  }
}
