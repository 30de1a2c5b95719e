/** Faults of the scenario that struck nothing: then it shows less than it says. */

import type { Entry, EntryOf, FaultEffect } from '../journal/entry.ts'
import { stepsOf } from '../scenario/plan.ts'
import type { RunEventOf } from '../scenario/run-events.ts'
import { effectText } from '../wording/faults.ts'
import type { Found, History, Rule } from './rule.ts'

/** Only of a play that went to its end: before that nobody can tell what would have come. */
export const faultNeverStruck: Rule = {
  id: 'fault-never-struck',
  find(history) {
    if (!wasPlayedToTheEnd(history)) return []
    const set = history.entries.filter(isSet)
    return set.filter(one => !hasStruck(history.entries, one, set)).map(one => idle(history, one))
  },
}

type FaultSet = EntryOf<'note'> & { readonly fault: string; readonly effect: FaultEffect }

const isSet = (entry: Entry): entry is FaultSet => entry.kind === 'note' && entry.note === 'fault_set'

function wasPlayedToTheEnd({ plan, entries }: History): boolean {
  const marks = entries.filter(entry => entry.kind === 'note') as unknown as RunEventOf<'step_ended'>[]
  const ended = new Set(marks.filter(({ note }) => note === 'step_ended').map(({ step }) => step))
  const steps = [...stepsOf([...plan.steps, ...plan.finally])]
  return steps.length > 0 && steps.every(({ number }) => ended.has(number))
}

/** A name may be given again when its fault has been cleared. */
function hasStruck(entries: readonly Entry[], { fault, seq }: FaultSet, set: readonly FaultSet[]): boolean {
  const until = set.find(other => other.fault === fault && other.seq > seq)?.seq ?? Number.POSITIVE_INFINITY
  return entries.some(one => one.kind === 'fault' && one.fault === fault && one.seq > seq && one.seq < until)
}

function idle({ conversationOf }: History, { fault, effect, seq, chat_id }: FaultSet): Found {
  const message =
    `The fault ${fault} (${effectText(effect)}), set with #${seq}, struck nothing, so whatever passed here passed without it. ` +
    'Is it set before what it is meant for, about the right call or event, and for the right chat? Leave it out if it is not needed.'
  return { message, conversation: conversationOf(chat_id), marks: [seq] }
}
