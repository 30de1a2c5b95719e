/**
 * Lists every knob by its dotted name, with its type, allowed values and default. `assumptions.ts` says what each one
 * changes and which rule of the platform is missing.
 */

import { keysOf } from '../../base/objects.ts'
import { BY_LANGUAGE } from './bot-texts.ts'
import {
  choiceKnob,
  choiceListKnob,
  countKnob,
  countOrOffKnob,
  durationKnob,
  durationListKnob,
  durationOrOffKnob,
  type JsonShape,
  type KnobType,
  patternListKnob,
  rateOrOffKnob,
  textKnob,
  wordKnob,
  wordOrModuleKnob,
  wordOrTextKnob,
} from './knob-types.ts'

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const header = (initial: string) => wordKnob(initial, 'an HTTP header name', token)
const origin = /^(\*|https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?)$/i
const pair = /^[^=\s,]*=[^,]*$/

const engineWords = choiceKnob(['marker', 'identity'], 'marker')

export const KNOBS = {
  'webhook.signature': choiceKnob(['base64', 'hex', 'off'], 'base64'),
  'webhook.signatureHeader': header('Kindly-HMAC'),
  'webhook.algorithmHeader': header('Kindly-HMAC-algorithm'),
  'webhook.algorithm': choiceKnob(['sha256', 'sha1', 'sha512'], 'sha256'),
  'webhook.signedContent': choiceKnob(['body', 'url-and-body'], 'body'),
  'webhook.json': choiceKnob(['compact', 'spaced', 'ascii', 'slashes', 'pretty', 'newline', 'reordered'], 'compact'),
  'webhook.retry': durationListKnob(),
  'webhook.timeout': durationKnob(10_000),
  'webhook.redirect': choiceKnob(['fail', 'follow'], 'fail'),
  'webhook.order': choiceKnob(['chat', 'none', 'shuffle'], 'chat'),
  'webhook.idHeader': wordKnob('off', 'off | an HTTP header name', token),
  'typing.webhook': choiceKnob(['echo', 'off'], 'echo'),
  'typing.response': choiceKnob(['empty', 'event'], 'empty'),
  'typing.clearOn': choiceListKnob(['end', 'message'], ['end']),
  'errors.body': choiceKnob(['json', 'empty', 'html', 'text'], 'json'),
  'errors.validation': choiceKnob(['400', '422'], '400'),
  'errors.idMismatch': choiceKnob(['404', '400', '403'], '404'),
  'summarize.errorStatus': choiceKnob(['400', '409', '422'], '400'),
  'summarize.count': choiceKnob(['codepoints', 'utf16'], 'codepoints'),
  'summarize.latency': durationKnob(0),
  'summarize.vary': choiceKnob(['off', 'on'], 'off'),
  'summarize.text': textKnob('template'),
  'summarize.prompt': textKnob('', true),
  'availability.initial': choiceKnob(['OPEN', 'CLOSED'], 'OPEN'),
  'availability.otherQueues': choiceKnob(['reject', 'accept'], 'reject'),
  'availability.closedBlocksStart': choiceKnob(['off', 'on'], 'off'),
  'time.format': choiceKnob(['iso', 'epoch', 'offset'], 'iso'),
  'keys.handover': wordKnob('sim-handover-key', 'a key: printable characters without spaces'),
  'keys.bot': wordKnob('sim-bot-key', 'a key: printable characters without spaces'),
  'keys.more': patternListKnob('key:bot_id, such as [other-key:2002]', /^[\x21-\x2b\x2d-\x7e]+:[1-9]\d{0,14}$/),
  'keys.shared': choiceKnob(['off', 'on'], 'off'),
  'keys.graceful': durationOrOffKnob(),
  'request.repeat': choiceKnob(['event', 'ignore'], 'event'),
  'request.forwardPending': choiceKnob(['off', 'on'], 'off'),
  'start.unrequested': choiceKnob(['accept', '409'], 'accept'),
  'start.again': choiceKnob(['accept', '409'], 'accept'),
  'end.idle': choiceKnob(['accept', '409'], 'accept'),
  'message.requiresTakeover': choiceKnob(['off', 'on'], 'off'),
  'message.allowEmpty': choiceKnob(['off', 'on'], 'off'),
  'messages.open': wordOrTextKnob(BY_LANGUAGE),
  'messages.closed': wordOrTextKnob(BY_LANGUAGE),
  'messages.entering': wordOrTextKnob(BY_LANGUAGE),
  'messages.left': wordOrTextKnob(BY_LANGUAGE),
  'bot.delay': durationKnob(0),
  'strict.sender': choiceKnob(['off', 'on'], 'off'),
  'buttons.schema': choiceKnob(['any', 'strict'], 'any'),
  'limits.body': countKnob(1_048_576, 1_073_741_824),
  'limits.rate': rateOrOffKnob(),
  'limits.attachmentKb': countOrOffKnob(),
  'attachments.auth': choiceKnob(['off', 'on'], 'off'),
  'attachments.ttl': durationOrOffKnob(),
  'attachments.whenEmpty': choiceKnob(['empty', 'absent'], 'empty'),
  'translation.match': choiceKnob(['primary', 'exact'], 'primary'),
  'translation.aliases': patternListKnob('pairs such as [no=nb]', pair),
  'translation.engine': wordOrModuleKnob(engineWords),
  'transcript.text': choiceKnob(['seen', 'both'], 'seen'),
  'transcript.state': patternListKnob(
    'pairs such as [agent=taken_over], of bot, pending, agent',
    /^(bot|pending|agent)=[^,]+$/,
  ),
  'transcript.source': patternListKnob('pairs such as [web=chatbubble]', pair, ['web=chatbubble']),
  'transcript.takenOver': choiceKnob(['time', 'null', 'true'], 'time'),
  'transcript.extra': patternListKnob('pairs such as [channel=widget]', pair),
  'transcript.handover': choiceKnob(['record', 'minimal'], 'record'),
  'transcript.agentFromBot': choiceKnob(['on', 'off'], 'on'),
  'ids.chat': choiceKnob(['uuid', 'hex24'], 'uuid'),
  'ids.message': choiceKnob(['hex24', 'uuid'], 'hex24'),
  'ids.user': choiceKnob(['hex24', 'hex32'], 'hex24'),
  'ids.exchange': choiceKnob(['uuid', 'hex24'], 'uuid'),
  'api.trailingSlash': choiceKnob(['accept', 'strict', 'redirect'], 'accept'),
  'api.contentType': choiceKnob(['accept', '415'], 'accept'),
  'api.unknownFields': choiceKnob(['accept', '400'], 'accept'),
  'api.versions': patternListKnob('further versions of the handover paths, such as [v3]', /^v\d+$/),
  'api.cors': patternListKnob('origins such as [https://desk.example.test], or * for every page', origin),
  'chat.idleTimeout': durationOrOffKnob(),
} as const satisfies Record<string, KnobType<never> | KnobType<unknown> | object>

type Table = typeof KNOBS
export type KnobName = keyof Table
/** The effective values by name: durations in milliseconds (null when off), lists as arrays. */
export type Knobs = { -readonly [Name in KnobName]: Table[Name]['initial'] }

/** Knobs by name, with values as code writes them. */
export type KnobSettings = {
  readonly [Name in KnobName]?: Table[Name] extends { readonly input?: infer Input } ? Input : never
}

export const KNOB_NAMES = keysOf(KNOBS)

/**
 * Where a value comes from. `user`: flags, the config file, and options in code. `data`: scenarios, snapshots and the
 * control API, which name no module, because a module is code.
 */
export type KnobOrigin = 'user' | 'data'

const engineInData = {
  ...engineWords,
  allowed: `${engineWords.allowed} (a module is named only by --set translation.engine=FILE, the config file, or options in code)`,
}
const kindOf = (name: KnobName, origin: KnobOrigin = 'user') =>
  (origin === 'data' && name === 'translation.engine' ? engineInData : KNOBS[name]) as unknown as KnobType<unknown>

const INITIAL = Object.fromEntries(KNOB_NAMES.map(name => [name, kindOf(name).initial])) as unknown as Knobs

export const defaultKnobs = (): Knobs => ({ ...INITIAL })

export const isKnob = (name: string): name is KnobName => Object.hasOwn(KNOBS, name)

/** The allowed values of a knob in words. */
export const allowedFor = (name: KnobName, origin?: KnobOrigin): string => kindOf(name, origin).allowed

/** The allowed values of a knob as JSON Schema, for editors. */
export const schemaFor = (name: KnobName, origin?: KnobOrigin): JsonShape => kindOf(name, origin).schema

export const parseKnob = (name: KnobName, raw: unknown, origin?: KnobOrigin): unknown => kindOf(name, origin).parse(raw)

/** The canonical spelling of a value, as `--set` and the config file take it. */
export const formatKnob = (name: KnobName, value: unknown): unknown => kindOf(name).format(value)

export function formatKnobs(knobs: Knobs): Record<string, unknown> {
  const formatted: Record<string, unknown> = {}
  for (const name of KNOB_NAMES) formatted[name] = formatKnob(name, knobs[name])
  return formatted
}
