/** How long after something new appears nothing counts, in milliseconds: it was meant for something else. */
const pause = 500

/** Tells which keys and clicks come too early to be meant. */
export class Guard {
  #until = 0

  /** Something else is under the person's hand from now on. */
  restart() {
    this.#until = performance.now() + pause
  }

  get early(): boolean {
    return performance.now() < this.#until
  }

  /** Starts anew whenever the page comes into sight, until the function that it returns is called. */
  follow(): () => void {
    const seen = () => document.visibilityState === 'visible' && this.restart()
    document.addEventListener('visibilitychange', seen)
    return () => document.removeEventListener('visibilitychange', seen)
  }
}
