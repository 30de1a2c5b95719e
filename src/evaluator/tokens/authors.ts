/**
 * Finds the author of a text. An agent may quote a user, so a text that a scenario gives its agents proves
 * nothing. A `$(...)` whose value is unknown may stand for anything.
 */

import type { Entry } from '../../journal/entry.ts'
import { interpolate, namesIn, stringsIn } from '../../scenario/interpolation.ts'
import { type Plan, type PlannedStep, stepsOf } from '../../scenario/plan.ts'
import { filledOver } from '../../scenario/variables.ts'
import type { StepRef } from '../failure.ts'
import { stepRef } from '../references.ts'
import type { Written } from './texts.ts'

/** Whether `text`, known by `sign`, may be written by the agent. */
export type AgentTextMatcher = (text: string, sign: string) => boolean

export function agentTextsIn(plan: Plan): AgentTextMatcher {
  const matchers = [...stepsOf([...plan.steps, ...plan.finally])].flatMap(step => textsOfStep(plan, step))
  return (text, sign) => matchers.some(matches => matches(text, sign))
}

function textsOfStep(plan: Plan, { action, conversation, scope }: PlannedStep): AgentTextMatcher[] {
  if (action.verb !== 'agent') return []
  const own = plan.conversations.find(({ name }) => name === conversation)?.scope ?? {}
  const known = [plan.vars, own, scope].reduce(filledOver, plan.matrix)
  return stringsIn([action.text, action.with]).map(template => textMatcher(template, known))
}

function textMatcher(template: string, known: Readonly<Record<string, unknown>>): AgentTextMatcher {
  if (namesIn(template).some(path => !isKnown(path, known))) return like(template)
  const words = String(interpolate(template, known))
  return namesIn(words).length > 0 ? like(words) : (_, sign) => words.includes(sign)
}

function isKnown(path: string, known: Readonly<Record<string, unknown>>): boolean {
  try {
    interpolate(`$(${path})`, known)
    return true
  } catch {
    return false
  }
}

function like(template: string): AgentTextMatcher {
  const pieces = template.split(/\$\([^()]*\)/).map(piece => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = new RegExp(`^${pieces.join('[^]*')}$`)
  return text => pattern.test(text)
}

/** The last step of that chat that makes a user write and started before the text. */
export function writerOf(plan: Plan, entries: readonly Entry[], { seq, chatId }: Written): StepRef | null {
  const start = entries.findLast(
    entry =>
      entry.seq < seq &&
      entry.kind === 'note' &&
      entry.note === 'step_started' &&
      (entry.verb === 'user' || entry.verb === 'press') &&
      (entry.chat_id ?? chatId) === chatId,
  )
  if (start?.kind !== 'note') return null
  const step = [...stepsOf([...plan.steps, ...plan.finally])].find(({ number }) => number === start.step)
  return step === undefined ? null : stepRef(plan, step)
}
