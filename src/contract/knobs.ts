/**
 * Every knob: dotted name -> kind, allowed values and default. What each one stands for, and which sentence the
 * platform leaves out, is in `assumptions.ts`. A default has a literal name wherever the value is a word.
 */
import {
  count,
  countOrOff,
  duration,
  durationOrOff,
  durations,
  type JsonShape,
  type KnobType,
  oneOf,
  rateOrOff,
  someOf,
  text,
  word,
  wordsLike,
} from './knob-types.ts'

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const header = (initial: string) => word(initial, 'an HTTP header name', token)
const pair = /^[^=\s,]*=[^,]*$/

export const KNOBS = {
  'webhook.signature': oneOf(['base64', 'hex', 'off'], 'base64'),
  'webhook.signatureHeader': header('Kindly-HMAC'),
  'webhook.algorithmHeader': header('Kindly-HMAC-algorithm'),
  'webhook.algorithm': oneOf(['sha256', 'sha1', 'sha512'], 'sha256'),
  'webhook.signedContent': oneOf(['body', 'url-and-body'], 'body'),
  'webhook.json': oneOf(['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'], 'compact'),
  'webhook.retry': durations(),
  'webhook.timeout': duration(10_000),
  'webhook.redirect': oneOf(['fail', 'follow'], 'fail'),
  'webhook.order': oneOf(['chat', 'none', 'shuffle'], 'chat'),
  'webhook.idHeader': word('off', 'off | an HTTP header name', token),
  'typing.webhook': oneOf(['echo', 'off'], 'echo'),
  'typing.response': oneOf(['empty', 'event'], 'empty'),
  'typing.clearOn': someOf(['end', 'message'], ['end']),
  'errors.body': oneOf(['json', 'empty', 'html', 'text'], 'json'),
  'errors.validation': oneOf(['400', '422'], '400'),
  'errors.idMismatch': oneOf(['404', '400', '403'], '404'),
  'summarize.errorStatus': oneOf(['400', '409', '422'], '400'),
  'summarize.count': oneOf(['codepoints', 'utf16'], 'codepoints'),
  'summarize.latency': duration(0),
  'summarize.vary': oneOf(['off', 'on'], 'off'),
  'summarize.text': text('template'),
  'summarize.prompt': text('', true),
  'availability.initial': oneOf(['OPEN', 'CLOSED'], 'OPEN'),
  'availability.otherQueues': oneOf(['reject', 'accept'], 'reject'),
  'availability.closedBlocksStart': oneOf(['off', 'on'], 'off'),
  'time.format': oneOf(['iso', 'epoch', 'offset'], 'iso'),
  'keys.handover': word('sim-handover-key', 'a key: printable characters without spaces'),
  'keys.bot': word('sim-bot-key', 'a key: printable characters without spaces'),
  'keys.more': wordsLike('key:bot_id, such as [other-key:2002]', /^[\x21-\x2b\x2d-\x7e]+:[1-9]\d{0,14}$/),
  'keys.shared': oneOf(['off', 'on'], 'off'),
  'keys.graceful': durationOrOff(),
  'request.repeat': oneOf(['event', 'ignore'], 'event'),
  'request.forwardPending': oneOf(['off', 'on'], 'off'),
  'start.unrequested': oneOf(['accept', '409'], 'accept'),
  'start.again': oneOf(['accept', '409'], 'accept'),
  'end.idle': oneOf(['accept', '409'], 'accept'),
  'message.requiresTakeover': oneOf(['off', 'on'], 'off'),
  'message.allowEmpty': oneOf(['off', 'on'], 'off'),
  'messages.open': text('One moment, I am passing you on to a human colleague.'),
  'messages.closed': text('Our team is not available right now. Please try again later.'),
  'messages.entering': text('{name} has joined the chat.'),
  'messages.left': text('{name} has left the chat.'),
  'bot.delay': duration(0),
  'strict.sender': oneOf(['off', 'on'], 'off'),
  'buttons.schema': oneOf(['any', 'strict'], 'any'),
  'limits.body': count(1_048_576, 1_073_741_824),
  'limits.rate': rateOrOff(),
  'limits.attachmentKb': countOrOff(),
  'attachments.auth': oneOf(['off', 'on'], 'off'),
  'attachments.ttl': durationOrOff(),
  'attachments.whenEmpty': oneOf(['empty', 'absent'], 'empty'),
  'translation.match': oneOf(['primary', 'exact'], 'primary'),
  'translation.aliases': wordsLike('pairs such as [no=nb]', pair),
  'translation.engine': text('marker'),
  'transcript.text': oneOf(['seen', 'both'], 'seen'),
  'transcript.state': wordsLike(
    'pairs such as [agent=taken_over], of bot, pending, agent',
    /^(bot|pending|agent)=[^,]+$/,
  ),
  'transcript.source': wordsLike('pairs such as [web=chatbubble]', pair, ['web=chatbubble']),
  'transcript.takenOver': oneOf(['time', 'null', 'true'], 'time'),
  'transcript.extra': wordsLike('pairs such as [channel=widget]', pair),
  'transcript.handover': oneOf(['record', 'minimal'], 'record'),
  'transcript.agentFromBot': oneOf(['on', 'off'], 'on'),
  'ids.chat': oneOf(['uuid', 'hex24'], 'uuid'),
  'ids.message': oneOf(['hex24', 'uuid'], 'hex24'),
  'ids.user': oneOf(['hex24', 'hex32'], 'hex24'),
  'ids.exchange': oneOf(['uuid', 'hex24'], 'uuid'),
  'api.trailingSlash': oneOf(['accept', 'strict', 'redirect'], 'accept'),
  'api.contentType': oneOf(['accept', '415'], 'accept'),
  'api.unknownFields': oneOf(['accept', '400'], 'accept'),
  'api.versions': wordsLike('further versions of the handover paths, such as [v3]', /^v\d+$/),
  'chat.idleTimeout': durationOrOff(),
} as const satisfies Record<string, KnobType<never> | KnobType<unknown> | object>

type Table = typeof KNOBS
export type KnobName = keyof Table
/** The values in force, typed by name: durations in milliseconds (null when off), lists as arrays. */
export type Knobs = { -readonly [Name in KnobName]: Table[Name] extends KnobType<infer T> ? T : never }

export const KNOB_NAMES = Object.keys(KNOBS) as KnobName[]
const kindOf = (name: KnobName) => KNOBS[name] as unknown as KnobType<unknown>

export function defaultKnobs(): Knobs {
  return Object.fromEntries(KNOB_NAMES.map(name => [name, kindOf(name).initial])) as unknown as Knobs
}

export const isKnob = (name: string): name is KnobName => Object.hasOwn(KNOBS, name)

/** What a user may write for this knob, in words. */
export const allowedFor = (name: KnobName): string => kindOf(name).allowed

/** The same as JSON Schema, for editors. */
export const schemaFor = (name: KnobName): JsonShape => kindOf(name).schema

export const parseKnob = (name: KnobName, raw: unknown): unknown => kindOf(name).parse(raw)

/** The canonical spelling of a value, as `--set` and the config file take it. */
export const showKnob = (name: KnobName, value: unknown): unknown => kindOf(name).show(value)

export const showKnobs = (knobs: Knobs): Record<string, unknown> =>
  Object.fromEntries(KNOB_NAMES.map(name => [name, showKnob(name, knobs[name])]))
