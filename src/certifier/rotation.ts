/** Varies what the platform's description leaves open, so that an intermediary does not rely on the simulator's defaults. */
import { formatKnob, KNOB_NAMES, type KnobName, type KnobSettings, parseKnob } from '../contract/knobs.ts'
import { keysOf } from '../contract/objects.ts'
import { hashWords } from '../runtime/random.ts'

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

/** The values of one check: they depend on the seed and its id, not on other checks. */
export function rotationFor(seed: number, checkId: string, fixed: Rotation): Rotation {
  const names = keysOf(ROTATED).filter(name => !(name in fixed))
  return Object.fromEntries(names.map(name => [name, chosen(ROTATED[name], `${checkId} ${name}`, seed)]))
}

const chosen = (values: readonly unknown[], label: string, seed: number): unknown =>
  values[hashWords(label, seed)[0] % values.length]

/** The knobs of a rotation that differ from their defaults, as text. */
export function changedKnobs(rotation: Rotation, initial: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = KNOB_NAMES.filter(name => rotation[name] !== undefined)
  const spelled = names.map(name => [name, formatKnob(name, parseKnob(name, rotation[name]))] as const)
  return Object.fromEntries(spelled.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(initial[name])))
}
