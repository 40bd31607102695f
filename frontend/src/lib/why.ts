// The line below the question: why it is asked, and what of it is not.
import { hiddenIn } from './pieces'
import { panel } from './text'
import type { Question } from './types'

export const whyAsked = (question: Question) =>
  (question.command.hidden
    ? [panel.hiddenMarked(hiddenIn(question.command.lines).length)]
    : [panel.why(question.reason, question.sentence ?? ''), panel.alsoAsking(question.asking - 1), question.asking ? panel.passing(question.passing) : '']
  )
    .concat(panel.identical(question.count))
    .filter(Boolean)
    .join(' ')
