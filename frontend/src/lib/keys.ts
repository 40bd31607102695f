// What a key means on the panel. Nothing here does anything: see ScreenState.act.

/** What a person can do with the question on the panel, by key or by button. */
export type Action = 'deny' | 'once' | 'always' | 'save' | 'back' | 'close' | 'next' | 'previous' | 'menu' | 'hold' | 'one' | 'again' | 'list' | 'answer'

/** What the panel shows: a question, its Always allow…, or one that ended. */
export type View = 'ask' | 'always' | 'ended' | 'list'

export interface Place {
  view: View
  mac: boolean
  /** Allow once has a key: it is offered, and the command is not risky. */
  once: boolean
  /** Always allow… is offered. */
  always: boolean
}

/** Beside the actions: leave the text field, copy the command, and nothing at all. */
export type Meaning = Action | 'leave' | 'copy' | 'swallow' | undefined

/** Tells what a pressed key means. "swallow" keeps it from the web view. */
export function meaning(event: KeyboardEvent, at: Place): Meaning {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return
  const typing = isField(event.target)
  const command = at.mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
  if (event.repeat) return held(event, typing, command)
  if (isMenu(event.target)) return command ? 'swallow' : undefined // an open menu has the keys
  if (command && event.shiftKey && !event.altKey && event.key.toLowerCase() === 'h') return typing ? undefined : 'hold'
  if (event.altKey || event.shiftKey) return
  if (event.key === 'Escape' && !event.metaKey && !event.ctrlKey) return escape(at.view, typing)
  if (!command) return
  switch (event.key.toLowerCase()) {
    case 'o':
      return at.view === 'ask' && at.once && !typing ? 'once' : 'swallow'
    case 'a':
      if (typing) return
      return at.view === 'ask' && at.always ? 'always' : 'swallow'
    case 'c':
      return typing ? undefined : 'copy'
    case '[':
      return 'previous'
    case ']':
      return 'next'
  }
}

/** A key that is held down never answers, and never presses a button either. */
function held(event: KeyboardEvent, typing: boolean, command: boolean): Meaning {
  if (typing) return
  const presses = event.key === 'Enter' || event.key === ' ' || event.key === 'Escape'
  return presses || (command && 'oa[]'.includes(event.key.toLowerCase())) ? 'swallow' : undefined
}

function escape(view: View, typing: boolean): Meaning {
  if (typing) return 'leave'
  return view === 'ask' || view === 'list' ? 'deny' : view === 'always' ? 'back' : 'close'
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)
}

/** Tells whether this is a Mac, where the command key stands for control. */
export const onMac = (): boolean => /Mac/.test(navigator.platform)

function isMenu(target: EventTarget | null): boolean {
  return target instanceof Element && !!target.closest('[role="menu"]')
}
