/** Reads settings that flags and environment variables give as text, and merges settings of several origins. */
import { allowedFor, type KnobName, parseKnob } from '../contract/knobs.ts'
import { defineTexts } from '../text/texts.ts'

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

/** What each value must be. */
export const EXPECTED = defineTexts({
  port: 'a whole number from 0 to 65535 (0 takes any free port)',
  host: 'an address or host name such as 127.0.0.1',
  seed: 'a whole number from 0',
  clock: 'real or virtual',
  url: 'an http or https URL such as http://127.0.0.1:4747',
  httpUrl: 'an http or https URL such as http://127.0.0.1:3000/webhook',
  baseUrl: 'an http or https URL without a query, such as https://bot.example.test',
})

function wholeNumber(text: unknown, max: number): number | undefined {
  if (typeof text !== 'string' || !/^\d+$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) && value <= max ? value : undefined
}

const readPort = (text: unknown) => wholeNumber(text, 65_535)
const readSeed = (text: unknown) => wholeNumber(text, Number.MAX_SAFE_INTEGER)
const readClock = (text: unknown) => (text === 'real' || text === 'virtual' ? text : undefined)
const readHost = (text: unknown) => (typeof text === 'string' && /^[\w.:%[\]-]+$/.test(text) ? text : undefined)

export function readHttpUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^https?:\/\/[^/]/i.test(value)) return undefined
  return URL.canParse(value) ? value : undefined
}

export function readBaseUrl(value: unknown): string | undefined {
  const url = readHttpUrl(value)
  return url === undefined || /[?#]/.test(url) ? undefined : url
}

/** The flags of settings, as commander parses them. */
export interface SettingFlags {
  readonly port?: string
  readonly host?: string
  readonly webhookUrl?: string
  readonly apiKey?: string
  readonly botApiKey?: string
  readonly baseUrl?: string
  readonly config?: string
  readonly seed?: string
  readonly clock?: string
  readonly set?: readonly string[]
  readonly inspector?: boolean
  readonly markers?: boolean
}

export interface TextSetting {
  readonly name: string
  readonly flag: string
  readonly option: keyof SettingFlags
  readonly env: readonly string[]
  /** Undefined when the text does not fit. */
  read(text: string): unknown
  expected(): string
}

const expecting = (expected: keyof typeof EXPECTED, read: (text: string) => unknown) => ({
  read,
  expected: () => EXPECTED[expected],
})
const knob = (name: KnobName) => ({
  read: (text: string) => (parseKnob(name, text) === undefined ? undefined : text),
  expected: () => allowedFor(name),
})
const row = (
  name: string,
  flag: string,
  option: keyof SettingFlags,
  env: readonly string[],
  how: Pick<TextSetting, 'read' | 'expected'>,
): TextSetting => ({ name, flag, option, env, ...how })

export const TEXT_SETTINGS: readonly TextSetting[] = [
  row('port', '--port', 'port', ['HANDOVER_SIM_PORT', 'PORT'], expecting('port', readPort)),
  row('host', '--host', 'host', ['HANDOVER_SIM_HOST'], expecting('host', readHost)),
  row('webhook.url', '--webhook-url', 'webhookUrl', ['HANDOVER_SIM_WEBHOOK_URL'], expecting('httpUrl', readHttpUrl)),
  row('keys.handover', '--api-key', 'apiKey', ['HANDOVER_SIM_API_KEY'], knob('keys.handover')),
  row('keys.bot', '--bot-api-key', 'botApiKey', ['HANDOVER_SIM_BOT_API_KEY'], knob('keys.bot')),
  row('base_url', '--base-url', 'baseUrl', ['HANDOVER_SIM_BASE_URL'], expecting('baseUrl', readBaseUrl)),
  row('seed', '--seed', 'seed', ['HANDOVER_SIM_SEED'], expecting('seed', readSeed)),
  row('clock', '--clock', 'clock', ['HANDOVER_SIM_CLOCK'], expecting('clock', readClock)),
]
