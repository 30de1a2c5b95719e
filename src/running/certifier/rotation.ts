/**
 * Varies what the platform's description leaves open, so that an intermediary does not rely on the simulator's defaults,
 * and finds which variation decides that a check fails.
 */

import { keysOf } from '../../base/objects.ts'
import { hashWords } from '../../base/runtime/random.ts'
import {
  defaultKnobs,
  formatKnob,
  formatKnobs,
  KNOB_NAMES,
  type KnobName,
  type KnobSettings,
  parseKnob,
} from '../../platform/contract/knobs.ts'
import type { CheckResult, DecisiveKnob } from './check.ts'
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
  'strict.sender': ['off', 'on'],
  'attachments.whenEmpty': ['empty', 'absent'],
  'transcript.text': ['seen', 'both'],
  'transcript.state': [[], ['agent=taken_over']],
  'transcript.source': [['web=chatbubble'], ['web=web']],
  'transcript.takenOver': ['time', 'null', 'true'],
  'transcript.extra': [[], ['channel=widget']],
  'transcript.handover': ['record', 'minimal'],
  'transcript.agentFromBot': ['on', 'off'],
  'ids.chat': ['uuid', 'hex24'],
  'ids.message': ['hex24', 'uuid'],
  'ids.user': ['hex24', 'hex32'],
  'ids.exchange': ['uuid', 'hex24'],
  'api.trailingSlash': ['accept', 'strict'],
  'api.contentType': ['accept', '415'],
  'api.unknownFields': ['accept', '400'],
} as const satisfies { readonly [Name in KnobName]?: readonly unknown[] }

export type RotatedKnob = keyof typeof ROTATED

/** Why the other knobs keep their values: what `certify` would show by varying them. */
export const NOT_ROTATED: Readonly<Record<Exclude<KnobName, RotatedKnob>, NotRotated>> = {
  'webhook.signature': 'documented',
  'webhook.signatureHeader': 'documented',
  'webhook.algorithmHeader': 'documented',
  'webhook.algorithm': 'documented',
  'webhook.signedContent': 'documented',
  'webhook.retry': 'own_check',
  'webhook.timeout': 'own_check',
  'webhook.redirect': 'more_lenient',
  'webhook.order': 'own_check',
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
  'api.versions': 'more_lenient',
  'api.cors': 'setting',
  'chat.idleTimeout': 'changes_flow',
}

/**
 * documented: the platform's public documentation states it. setting: a choice of the workspace, not a gap. own_check: a
 * check sets it. more_lenient: another value only forgives more. changes_flow: with another value a correct intermediary
 * does something else, so a check could not tell right from wrong.
 */
export type NotRotated = 'documented' | 'setting' | 'own_check' | 'more_lenient' | 'changes_flow'

export type Rotation = KnobSettings

/** The default of each knob, as text. */
const INITIAL_KNOBS: Readonly<Record<string, unknown>> = formatKnobs(defaultKnobs())

/** The values of one check: they depend on the seed and its id, not on other checks. */
export function rotationFor(seed: number, checkId: string, fixed: Rotation): Rotation {
  const names = keysOf(ROTATED).filter(name => !(name in fixed))
  return Object.fromEntries(
    names.map(name => [name, ROTATED[name][hashWords(`${checkId} ${name}`, seed)[0] % ROTATED[name].length]]),
  )
}

/** The knobs of a rotation that differ from their defaults, as text. */
export function changedKnobs(rotation: Rotation): Record<string, unknown> {
  const names = KNOB_NAMES.filter(name => rotation[name] !== undefined)
  const spelled = names.map(name => [name, formatKnob(name, parseKnob(name, rotation[name]))] as const)
  return Object.fromEntries(
    spelled.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(INITIAL_KNOBS[name])),
  )
}

interface DecisiveOptions {
  /** A result that is not good. */
  readonly result: CheckResult
  /** Runs the check again, in new chats, with these knobs changed. */
  replay(rotation: Rotation): Promise<CheckResult>
}

/**
 * Empty when the check also fails with the defaults, when it passes a second time with the same values, and when no few
 * knobs decide. Several knobs decide together. Repeats the check at most `2 + 2 * log2(knobs)` times.
 */
export async function findDecisiveKnobs({ result, replay }: DecisiveOptions): Promise<DecisiveKnob[]> {
  const { rotated } = result
  const names = Object.keys(rotated)
  if (names.length === 0 || !isRepeatable(result)) return []
  const fails = async (changed: readonly string[]) =>
    isSameFailure(result, await replay(Object.fromEntries(changed.map(name => [name, rotated[name]]))))
  // A failure that comes and goes has another cause.
  if ((await fails([])) || !(await fails(names))) return []
  const decisive = await narrow(names, fails)
  return decisive.length > MAX_DECISIVE
    ? []
    : decisive.map(knob => ({ knob, value: rotated[knob], initial: INITIAL_KNOBS[knob] }))
}

/** More would not tell a reader what to look at. */
const MAX_DECISIVE = 3

/** Halves the suspects as long as one half alone fails. */
async function narrow(
  names: readonly string[],
  fails: (changed: readonly string[]) => Promise<boolean>,
): Promise<readonly string[]> {
  if (names.length === 1) return names
  const middle = Math.ceil(names.length / 2)
  const [first, second] = [names.slice(0, middle), names.slice(middle)]
  if (await fails(first)) return narrow(first, fails)
  if (await fails(second)) return narrow(second, fails)
  return names
}

/** A target that does not answer, or has ended, fails with any behaviour of the platform. */
const isRepeatable = (result: CheckResult): boolean =>
  (result.outcome === 'fail' || result.outcome === 'warn') &&
  result.findings.every(({ code }) => code !== 'no-answer') &&
  !attemptsOf(result).some(isRefused)

const isSameFailure = ({ outcome, findings: [first] }: CheckResult, other: CheckResult): boolean =>
  other.outcome === outcome && other.findings.some(({ code }) => code === first?.code)
