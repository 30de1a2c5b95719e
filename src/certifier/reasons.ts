/** Renders why a check could not be observed, or does not apply. */
import { formatDuration } from '../text/quantities.ts'
import { defineTexts } from '../text/texts.ts'
import { targetFailureText } from '../wording/failures.ts'
import type { CheckReason, DecisiveKnob } from './check.ts'

type Texts = {
  readonly [Code in CheckReason['code']]: string | ((reason: Extract<CheckReason, { code: Code }>) => string)
}

const TEXTS = defineTexts<Texts>({
  capability_missing: ({ capability }) => `The capability file says that there is no support for ${capability}.`,
  driver_missing: 'This check needs an agent driver, which acts as the human agent: pass --agent-driver FILE.',
  verbs_missing: ({ verbs }) => `The agent driver has no ${verbs.join(', ')}, so this check cannot be observed.`,
  restart_missing: 'This check restarts the intermediary: give the agent driver a target with a start command.',
  handover_closed:
    'Handover is closed, so the platform sent no event when the user asked for an agent. Remove `business_hours` and `availability.initial` from the settings of the simulator for a certification.',
  no_wire: 'The intermediary is a function in this process, so there is no connection to observe.',
  no_visible_effect: ({ status }) =>
    `The webhook answered ${status}, and a valid event has no visible effect either, so nobody can see whether the event was used. Give the agent driver an inbox that lists requests, or answer 401 to events that are not signed correctly.`,
  time_limit: ({ limitMs }) => `The check did not end within ${formatDuration(limitMs)}.`,
  call_flood: ({ calls, overMs }) =>
    `The intermediary made ${calls} calls in ${formatDuration(Math.max(1, Math.round(overMs)))}, more than a check follows, so it was ended. Look for a loop that makes the same call again, such as an answer to its own typing events.`,
  target_unreachable: 'Nothing listened at the target any more. The end of this report says why the run was stopped.',
  target_ended: ({ failure, checks }) =>
    `The intermediary ended by itself while ${checks.join(', ')} ran (${targetFailureText(failure)}), and it did not end when each ran alone, so what ended it is not known. Its last output is in the log of this run. Try --jobs 1, and look for what several chats at once share.`,
  internal_error: ({ detail }) =>
    `Internal error of handover-sim: ${detail}. It says nothing about the intermediary; please report it.`,
  stopped: 'The run ended before this check.',
})

export function checkReasonText(reason: CheckReason): string {
  const texts: Readonly<Record<string, string | ((reason: never) => string)>> = TEXTS
  const text = texts[reason.code]!
  return typeof text === 'string' ? text : text(reason as never)
}

const DECISIVE = defineTexts({
  one: (changed: string, initial: string) =>
    `The check passes when the platform behaves as the simulator does by default (${initial}). It fails with ${changed}, which the platform's description does not exclude.`,
})

/** Says which unspecified behaviours decide that a check fails; null for none. */
export function decisiveText(knobs: readonly DecisiveKnob[]): string | null {
  if (knobs.length === 0) return null
  const spelled = (of: (knob: DecisiveKnob) => unknown) => knobs.map(one => `${one.knob}=${String(of(one))}`).join(', ')
  return DECISIVE.one(
    spelled(({ value }) => value),
    spelled(({ initial }) => initial),
  )
}
