// The exact command as elements. They are made by hand because a text of
// 60 KB has more pieces than a template draws in the time of a blink. Text
// becomes text nodes and nothing else.
import { breaks, groups, parts, textOf } from './pieces'
import { nameOf } from './runs'
import type { Command, Part, Piece, Run } from './types'

/** More tab stops than this help nobody. */
export const stops = 50

/** Draws a command: a div for each line, with every character of it. */
export function draw(command: Command, runs: Run[]): DocumentFragment {
  const text = document.createDocumentFragment()
  const byIndex = new Map(runs.map((run) => [run.segment, run]))
  const named = new Set<number>()
  for (const line of command.lines) {
    const div = element('div', 'command-line')
    for (const { segment, verdict, pieces } of groups(line)) {
      const into = segment >= 0 || command.hidden ? div.appendChild(element('span', 'seg')) : div
      if (into !== div) {
        into.dataset.verdict = command.hidden ? 'danger' : verdict
        into.dataset.segment = String(segment)
        const run = byIndex.get(segment)
        if (run && named.size < stops && !named.has(segment)) {
          named.add(segment)
          into.tabIndex = 0
          into.setAttribute('role', 'group')
          into.setAttribute('aria-label', nameOf(run, textOf(pieces)))
        }
      }
      for (const piece of pieces) drawPiece(into, piece)
    }
    text.append(div)
  }
  return text
}

const classes: Record<string, string> = { word: 'w', long: 'w w-long', operator: 'op' }

function drawPiece(into: HTMLElement, piece: Piece) {
  const name = classes[piece.kind]
  const to = name ? into.appendChild(element('span', name)) : into
  for (const part of piece.parts) {
    // The host sets most scripts apart that run the other way. None may be left.
    for (const bit of part.kind ? [part] : parts(part.text)) drawPart(to, bit, piece.kind === 'long')
  }
}

function drawPart(into: HTMLElement, part: Part, long: boolean) {
  if (part.kind === 'escaped') into.appendChild(element('span', 'esc')).append(part.text)
  else if (part.kind === 'rtl') into.appendChild(document.createElement('bdi')).append(part.text)
  else if (!long) into.append(part.text)
  else breaks(part.text).forEach((bit, i) => into.append(...(i > 0 ? [document.createElement('wbr'), bit] : [bit])))
}

function element(tag: string, name: string): HTMLElement {
  const e = document.createElement(tag)
  e.className = name
  return e
}
