/** Makes the references that failures hold: to steps, chats, expected calls and inbox items. */
import type { CallPattern, Expectation, ExpectTree, Plan, PlannedStep } from '../scenario/plan.ts'
import type { InboxItem } from '../scenario/run-events.ts'
import { bodyNotation, flow } from '../scenario/value-text.ts'
import type { InboxItemRef, PatternRef, RequirementRef, RequirementTree, StepName, StepRef } from './failure.ts'

export const stepName = ({ number, id, label }: StepName): StepName => ({ number, id, label })

export const stepRef = (plan: Plan, { number, id, name, label, conversation, place }: PlannedStep): StepRef => ({
  number,
  of: plan.count,
  id,
  name,
  label,
  conversation,
  place,
})

/** The name of a conversation where the plan has several, else null. */
export const chatIn = ({ conversations }: Plan, conversation: string | null): string | null =>
  conversations.length > 1 ? conversation : null

export const patternRef = ({ call, body }: CallPattern): PatternRef => ({ call, body: bodyNotation(body) })

export const requirementRef = (leaf: Expectation): RequirementRef => {
  const { times, apartMs, alias, auth } = leaf
  return { ...patternRef(leaf), times, apartMs, alias, auth }
}

export const requirementTree = (tree: ExpectTree): RequirementTree =>
  tree.op === 'call'
    ? { op: 'call', ...requirementRef(tree) }
    : { op: tree.op, of: tree.of.map(part => requirementTree(part)) }

const LONGEST_ITEM = 40

export function itemRef(items: readonly InboxItem[], place: number): InboxItemRef {
  const { request, text, attachments } = items[place] ?? {}
  return {
    position: place + 1,
    text: request && text === undefined ? null : flow(text ?? '', LONGEST_ITEM),
    files: attachments?.length ?? 0,
  }
}
