/**
 * Varies what the platform's description leaves open, so that an intermediary does not rely on the simulator's defaults,
 * and finds which variation decides that a check fails.
 */

import { buildRecord, keysOf } from '../../base/objects.ts'
import { hashWords } from '../../base/runtime/random.ts'
import {
  ASSUMED_REFUSALS,
  type AssumptionTier,
  type Evidence,
  tierOfKnob,
} from '../../platform/contract/assumptions.ts'
import {
  defaultKnobs,
  formatKnob,
  formatKnobs,
  KNOB_NAMES,
  type KnobName,
  type KnobSettings,
  type Knobs,
  parseKnob,
} from '../../platform/contract/knobs.ts'
import { type CheckResult, type DecisiveKnob, outcomeOf } from './check.ts'
import { attemptsOf, isRefused } from './target-watch.ts'

/** Knobs whose values a correct intermediary accepts all, each with the values to choose from. */
export const ROTATED = {
  'webhook.json': ['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'],
  'webhook.idHeader': ['off', 'X-Delivery-Id'],
  'typing.webhook': ['echo', 'off'],
  'typing.response': ['empty', 'event'],
  'typing.clearOn': [['end'], ['end', 'message']],
  'errors.body': ['json', 'empty', 'html', 'text'],
  'errors.validation': ['400', '422'],
  'errors.idMismatch': ['404', '400', '403'],
  'summarize.errorStatus': ['400', '409', '422'],
  'summarize.count': ['codepoints', 'utf16'],
  'summarize.vary': ['off', 'on'],
  'time.format': ['iso', 'epoch', 'offset'],
  'start.unrequested': ['accept', '409'],
  'buttons.form': ['typed', 'own'],
  'attachments.whenEmpty': ['empty', 'absent'],
  'transcript.text': ['seen', 'both'],
  'transcript.state': [[], ['agent=taken_over']],
  'transcript.source': [['web=chatbubble'], ['web=web']],
  'transcript.takenOver': ['true', 'null', 'time'],
  'transcript.extra': [[], ['channel=widget'], ['client']],
  'transcript.handover': ['record', 'minimal'],
  'transcript.agentFromBot': ['on', 'off'],
  'transcript.noticeExchange': ['on', 'off'],
  'transcript.exchangeType': ['usersays', 'by-kind'],
  'ids.chat': ['uuid', 'hex24'],
  'ids.message': ['hex24', 'uuid'],
  'ids.user': ['hex24', 'hex32'],
  'ids.exchange': ['uuid', 'hex24'],
  'api.trailingSlash': ['accept', 'strict'],
  'api.contentType': ['accept', '415'],
  'api.unknownFields': ['accept', '400'],
  'api.nulls': ['accept', '400'],
  'api.emptyFields': ['accept', '400'],
} as const satisfies { readonly [Name in KnobName]?: readonly unknown[] }

export type RotatedKnob = keyof typeof ROTATED

/** What fails only because the platform is assumed to refuse it, breaks no MUST: the check warns. */
export function withoutAssumedFailure(result: CheckResult): CheckResult {
  if (result.outcome !== 'fail' || !result.decisive.some(({ knob }) => ASSUMED_REFUSALS.includes(knob))) return result
  const findings = result.findings.map(one => (one.level === 'MUST' ? { ...one, level: 'SHOULD' as const } : one))
  return { ...result, findings, outcome: outcomeOf(findings, result.reason) }
}

/** Why the other knobs keep their values: what `certify` would show by varying them. */
export const NOT_ROTATED: Readonly<Record<Exclude<KnobName, RotatedKnob>, NotRotated>> = {
  'strict.sender': 'recommended',
  'webhook.signature': 'documented',
  'webhook.signatureHeader': 'documented',
  'webhook.algorithmHeader': 'documented',
  'webhook.algorithm': 'documented',
  'webhook.signedContent': 'documented',
  'webhook.retry': 'own_check',
  'webhook.timeout': 'own_check',
  'webhook.redirect': 'more_lenient',
  'webhook.order': 'own_check',
  'webhook.basicAuth': 'setting',
  'summarize.latency': 'own_check',
  'summarize.text': 'setting',
  'summarize.prompt': 'setting',
  'availability.initial': 'own_check',
  'availability.otherQueues': 'more_lenient',
  'availability.closedBlocksStart': 'own_check',
  'keys.handover': 'setting',
  'keys.bot': 'setting',
  'keys.more': 'setting',
  'keys.shared': 'more_lenient',
  'keys.graceful': 'setting',
  'request.repeat': 'own_check',
  'request.forwardPending': 'changes_flow',
  'request.closedButton': 'setting',
  'start.again': 'changes_flow',
  'end.idle': 'changes_flow',
  'message.requiresTakeover': 'changes_flow',
  'message.allowEmpty': 'more_lenient',
  'messages.open': 'setting',
  'messages.closed': 'setting',
  'messages.entering': 'setting',
  'messages.left': 'setting',
  'bot.delay': 'setting',
  'buttons.schema': 'changes_flow',
  'limits.body': 'own_check',
  'limits.rate': 'own_check',
  'limits.attachmentKb': 'changes_flow',
  'attachments.auth': 'changes_flow',
  'attachments.ttl': 'changes_flow',
  'translation.match': 'changes_flow',
  'translation.aliases': 'changes_flow',
  'translation.engine': 'setting',
  'api.answers': 'own_check',
  'api.versions': 'more_lenient',
  'api.cors': 'setting',
  'chat.idleTimeout': 'changes_flow',
  'chat.closed': 'own_check',
  'chat.deleted': 'own_check',
  'chat.reopens': 'changes_flow',
}

/**
 * documented: the platform's public documentation states it. setting: a choice of the workspace, not a gap. own_check: a
 * check sets it. more_lenient: another value only forgives more. changes_flow: with another value a correct intermediary
 * does something else, so a check could not tell right from wrong. recommended: the platform recommends what another value
 * requires, so a check warns.
 */
export type NotRotated = 'documented' | 'recommended' | 'setting' | 'own_check' | 'more_lenient' | 'changes_flow'

export type Rotation = KnobSettings

/** What each varied behaviour rests on. One that recorded traffic shows keeps the value in force. */
export type RotationTiers = Readonly<Record<RotatedKnob, AssumptionTier>>

export const rotationTiers = (evidence: Evidence | undefined, knobs: Knobs): RotationTiers =>
  buildRecord(keysOf(ROTATED), name => tierOfKnob(name, evidence, knobs))

/** The default of each knob, as text. */
const INITIAL_KNOBS: Readonly<Record<string, unknown>> = formatKnobs(defaultKnobs())

/** The values of one check: they depend on the seed and its id, not on other checks. */
export function rotationFor(seed: number, checkId: string, fixed: Rotation, tiers: RotationTiers): Rotation {
  const rotation: Record<string, unknown> = {}
  for (const name of keysOf(ROTATED)) {
    const values = ROTATED[name]
    if (!(name in fixed) && tiers[name] !== 'seen')
      rotation[name] = values[hashWords(`${checkId} ${name}`, seed)[0] % values.length]
  }
  return rotation
}

/** The knobs of a rotation that differ from their defaults, as text. */
export function changedKnobs(rotation: Rotation): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const name of KNOB_NAMES) {
    if (rotation[name] === undefined) continue
    const value = formatKnob(name, parseKnob(name, rotation[name]))
    if (JSON.stringify(value) !== JSON.stringify(INITIAL_KNOBS[name])) changed[name] = value
  }
  return changed
}

/** More would not show a reader what to look at. */
const MAX_DECISIVE = 3

/**
 * Finds the varied knobs that decide that a check fails. Empty when the check also fails with the defaults, when it passes
 * a second time with the same values, and when no few knobs decide. Several knobs decide together. Runs the check again,
 * in new chats, at most `2 + 2 * log2(knobs)` times.
 *
 * @param result one that is not good
 * @param runAgain runs the check with these knobs changed
 */
export async function findDecisiveKnobs(
  result: CheckResult,
  runAgain: (rotation: Rotation) => Promise<CheckResult>,
): Promise<DecisiveKnob[]> {
  const { rotated, outcome, findings, avoided } = result
  let suspects = Object.keys(rotated).filter(name => !(name in (avoided?.knobs ?? {})))
  if (suspects.length === 0 || (outcome !== 'fail' && outcome !== 'warn')) return []
  // A target that does not answer, or has ended, fails with any behaviour of the platform.
  const isSilent = findings.some(({ code }) => code === 'no-answer' || code === 'answers-missing-at-once')
  if (isSilent || attemptsOf(result).some(isRefused)) return []
  const fails = async (names: readonly string[]) => {
    const again = await runAgain(Object.fromEntries(names.map(name => [name, rotated[name]])))
    return again.outcome === outcome && again.findings.some(({ code }) => code === findings[0]?.code)
  }
  // A failure that comes and goes has another cause.
  if ((await fails([])) || !(await fails(suspects))) return []
  // Halves the suspects as long as one half alone fails.
  while (suspects.length > 1) {
    const middle = Math.ceil(suspects.length / 2)
    if (await fails(suspects.slice(0, middle))) suspects = suspects.slice(0, middle)
    else if (await fails(suspects.slice(middle))) suspects = suspects.slice(middle)
    else break
  }
  if (suspects.length > MAX_DECISIVE) return []
  return suspects.map(knob => ({ knob, value: rotated[knob], initial: INITIAL_KNOBS[knob] }))
}
