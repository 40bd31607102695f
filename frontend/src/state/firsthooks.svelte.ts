import { tick } from 'svelte'
import type { Backend } from '../lib/backend'
import { Guard } from '../lib/guard'
import type { Hook, HookChange } from '../lib/types'

/** The agents that were found here, while the first run offers them. */
export class FirstHooksState {
  hooks = $state.raw<Hook[]>([])
  /** The change to the settings of an agent that is shown, before it is made. */
  change = $state.raw<HookChange>()
  /** Tells that a hook was written here. */
  wrote = $state(false)
  problem = $state('')
  busy = $state(false)
  #backend: Backend
  #guard = new Guard()

  constructor(backend: Backend) {
    this.#backend = backend
  }

  async load() {
    this.#guard.restart() // what was pressed last was meant for what stood here before
    await this.#do(() => this.#look())
    await tick()
    await this.#backend.settingsReady()
  }

  /** Shows what putting our hook into the settings of an agent would change. */
  plan(agent: string) {
    return this.#do(async () => {
      this.change = await this.#backend.planHook(agent, false)
    })
  }

  /** Makes the change that is shown. */
  apply() {
    return this.#do(async () => {
      const { ok, message } = await this.#backend.applyHook(this.change?.id ?? '')
      this.problem = ok ? '' : (message ?? '')
      this.wrote ||= ok
      await this.#look()
    })
  }

  leaveChange() {
    this.change = undefined
  }

  /** Goes on to the settings. */
  leave() {
    return this.#guard.early ? Promise.resolve() : this.#do(() => this.#backend.leaveFirstRun())
  }

  async #look() {
    this.change = undefined
    this.hooks = (await this.#backend.hooks()).filter((h) => h.here && h.condition !== 'by-hand')
  }

  async #do(work: () => Promise<void>) {
    if (this.busy) return
    this.busy = true
    this.problem = ''
    await work().catch((error: unknown) => (this.problem = String(error)))
    this.busy = false
  }
}
