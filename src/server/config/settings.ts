/** Lists the settings of a server with their kinds, defaults and flags, and merges settings of several origins. */
import { keysOf } from '../../base/objects.ts'
import { allowedFor, isKnob, parseKnob } from '../../platform/contract/knobs.ts'
import { BUSINESS_HOURS_SHAPE } from '../../platform/rules/business-hours.ts'
import {
  DEFAULTS,
  filledText,
  flag,
  host,
  httpUrl,
  type OptionKind,
  optionKind,
  port,
  SETTING_KINDS,
} from '../../platform/simulator/options.ts'

export interface Setting {
  readonly value: unknown
  /** `default`, `--port`, `HANDOVER_SIM_PORT`, `handover-sim.config.yaml:3`. */
  readonly from: string
}
/** Settings of one origin by dotted name: `port`, `webhook.url`, `typing.webhook`. */
export type Layer = Readonly<Record<string, Setting>>

/** Later layers win. */
export const mergeLayers = (...layers: readonly Layer[]): Layer =>
  Object.fromEntries(layers.flatMap(layer => Object.entries(layer)))

export interface SettingSpec {
  readonly kind: OptionKind
  /** The default of a server; null when there is none. */
  readonly initial: unknown
  readonly description?: string
}

/** It is sent in a header. */
export const controlToken = optionKind<string>(
  'a text of visible ASCII characters without spaces',
  value => typeof value === 'string' && /^[!-~]+$/.test(value),
  { type: 'string', pattern: '^[!-~]+$' },
)

/** A request for it is passed to the webhook; a short one could be guessed. */
const deliveryPath = optionKind<string>(
  'a path of at least 16 characters such as /_webhook/4mYc0uL7Tq1w',
  value => typeof value === 'string' && /^\/(?!_sim(\/|$))[\w./~-]{14,}[\w~-]$/.test(value),
  { type: 'string', pattern: '^/(?!_sim(/|$))[\\w./~-]{14,}[\\w~-]$' },
)

/** Every setting besides the knobs, by its dotted name in the config file. Flags alone set `inspector`. */
export const SETTINGS: Readonly<Record<string, SettingSpec>> = {
  port: { kind: port, initial: DEFAULTS.port, description: '0 takes any free port' },
  host: { kind: host, initial: DEFAULTS.host, description: 'The address to listen on' },
  seed: { kind: SETTING_KINDS.seed, initial: DEFAULTS.seed, description: 'Same seed: same ids, names and texts' },
  clock: {
    kind: optionKind('real or virtual', value => value === 'real' || value === 'virtual'),
    initial: 'real',
    description: 'A virtual clock stands still until it is moved',
  },
  base_url: {
    kind: SETTING_KINDS.base_url,
    initial: null,
    description: 'What links of answers begin with. By default the address it listens on',
  },
  control_token: {
    kind: controlToken,
    initial: null,
    description: 'What clients of the control API must send; without it, a server that other machines reach draws one',
  },
  'webhook.url': {
    kind: SETTING_KINDS['webhook.url'],
    initial: null,
    description: 'Where events are sent; without it, nowhere',
  },
  'bot.id': { kind: SETTING_KINDS['bot.id'], initial: DEFAULTS.botId, description: 'The bot of new chats' },
  'bot.name': {
    kind: SETTING_KINDS['bot.name'],
    initial: DEFAULTS.botName,
    description: 'The name that the user sees',
  },
  'bot.organization_id': {
    kind: SETTING_KINDS['bot.organization_id'],
    initial: DEFAULTS.organizationId,
    description: 'The organization of the bot',
  },
  'bot.replies': {
    kind: SETTING_KINDS['bot.replies'],
    initial: [],
    description: 'What the bot answers to a text that contains `match`',
  },
  agent_driver: { kind: filledText, initial: null, description: 'The agent driver file' },
  business_hours: {
    kind: SETTING_KINDS.business_hours,
    initial: null,
    description: BUSINESS_HOURS_SHAPE.description,
  },
  evidence: {
    kind: SETTING_KINDS.evidence,
    initial: null,
    description: 'What recorded traffic shows about the platform; calibrate --write makes it',
  },
  inspector: { kind: flag, initial: true, description: 'Whether it serves the page for people' },
  markers: {
    kind: SETTING_KINDS.markers,
    initial: true,
    description: 'Whether responses name the assumptions they rest on',
  },
  'proxy.upstream': {
    kind: httpUrl('https://bot.example.test'),
    initial: null,
    description: 'Of `npx handover-sim proxy`: the address of the real platform',
  },
  'proxy.delivery_path': {
    kind: deliveryPath,
    initial: null,
    description: 'Where the platform sends events; without it, each start draws one',
  },
  'proxy.journal': { kind: filledText, initial: null, description: 'The file in which the proxy records' },
  'proxy.anonymise': {
    kind: flag,
    initial: false,
    description: 'Replace personal values in what is recorded and shown',
  },
  'proxy.rewrite_links': { kind: flag, initial: false, description: 'Lead links to the platform through the proxy' },
  memory_limit: {
    kind: SETTING_KINDS.memory_limit,
    initial: DEFAULTS.memoryLimit,
    description: 'Bounds the journal, and separately the transcripts: bytes, or a text such as 64mb',
  },
}

/** A setting or a knob that a flag and environment variables give as text. */
interface TextSetting {
  readonly name: string
  readonly option: keyof typeof TEXT_FLAGS
  readonly flag: string
  readonly env: string
}

/** The settings and knobs that flags and variables give as text, by the flag as commander names it. */
const TEXT_FLAGS = {
  port: 'port',
  host: 'host',
  webhookUrl: 'webhook.url',
  apiKey: 'keys.handover',
  botApiKey: 'keys.bot',
  baseUrl: 'base_url',
  token: 'control_token',
  seed: 'seed',
  clock: 'clock',
  memoryLimit: 'memory_limit',
  upstream: 'proxy.upstream',
  deliveryPath: 'proxy.delivery_path',
  journal: 'proxy.journal',
} as const

/** The flags of settings, as commander parses them. */
export type SettingFlags = { readonly [Option in keyof typeof TEXT_FLAGS | 'config']?: string } & {
  readonly set?: readonly string[]
  readonly inspector?: boolean
  readonly markers?: boolean
  readonly anonymise?: boolean
  readonly rewriteLinks?: boolean
}

export const TEXT_SETTINGS: readonly TextSetting[] = keysOf(TEXT_FLAGS).map(option => {
  const words = option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  const env = `HANDOVER_SIM_${words.replaceAll('-', '_').toUpperCase()}`
  return { name: TEXT_FLAGS[option], option, flag: `--${words}`, env }
})

/** Reads the text of a flag or a variable: the value, or what the text must be instead. */
export function readSettingText(
  name: string,
  text: string,
): { readonly value: unknown } | { readonly expected: string } {
  if (isKnob(name)) return parseKnob(name, text) === undefined ? { expected: allowedFor(name) } : { value: text }
  const kind = SETTINGS[name]?.kind
  const value = kind?.fromText(text)
  return kind === undefined || kind.fits(value) ? { value } : { expected: kind.expected }
}

/** Converts a map by dotted names, `{ 'bot.organization_id': 7 }`, to the options in code: `{ bot: { organizationId: 7 } }`. */
export function toOptions<Value>(
  byName: Readonly<Record<string, Value>>,
): Record<string, Value | Record<string, Value>> {
  const options: Record<string, Value> = {}
  const groups: Record<string, Record<string, Value>> = {}
  for (const [name, value] of Object.entries(byName)) {
    const [first = '', second] = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()).split('.')
    if (second === undefined) options[first] = value
    else groups[first] = { ...groups[first], [second]: value }
  }
  return { ...options, ...groups }
}
