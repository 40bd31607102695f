// The agents that a question is for, where several ask the same.
import type { Agent, Question, Sharer } from './types'

/** Those that still wait; none where the question is that of one agent. */
export function sharing(q: Question): Sharer[] {
  const live = (q.sharers ?? []).filter((s) => !s.ended)
  return live.length > 1 ? live : []
}

/** The questions that an answer to this one is for. */
export function idsOf(q: Question): string[] {
  const live = sharing(q)
  return live.length > 0 ? live.map((s) => s.id) : [q.id]
}

/** Those who ask. */
export function agentsOf(q: Question): Agent[] {
  const live = sharing(q)
  return live.length > 0 ? live.map((s) => s.agent) : [q.agent]
}
