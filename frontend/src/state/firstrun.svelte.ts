import { tick } from 'svelte'
import type { Backend } from '../lib/backend'
import type { Example, StartingPoint, Tool } from '../lib/types'

/** How agents start, while it is chosen. */
export class FirstRunState {
  tools = $state.raw<Tool[]>([])
  examples = $state.raw<Example[]>([])
  chosen = $state<StartingPoint>('ask-me')
  problem = $state('')
  busy = $state(false)
  #backend: Backend

  constructor(backend: Backend) {
    this.#backend = backend
  }

  async load() {
    try {
      const start = await this.#backend.start()
      this.tools = start.tools
      this.examples = start.examples
    } catch (error) {
      this.problem = String(error)
    }
    await tick()
    await this.#backend.settingsReady()
  }

  /** Takes what is chosen. The host opens the settings then. */
  async choose() {
    if (this.busy) return
    this.busy = true
    try {
      const saved = await this.#backend.choose(this.chosen)
      this.problem = saved.ok ? '' : (saved.message ?? '')
    } catch (error) {
      this.problem = String(error)
    } finally {
      this.busy = false
    }
  }
}
