/** Lists the settings that a flag or an environment variable can give as text. */
import { allowedFor, type KnobName, parseKnob } from '../contract/knobs.ts'
import { EXPECTED, readBaseUrl, readClock, readHost, readHttpUrl, readPort, readSeed } from './values.ts'

/** The flags that set something, as commander parses them. */
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

const as = (expected: keyof typeof EXPECTED, read: (text: string) => unknown) => ({
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
  row('port', '--port', 'port', ['HANDOVER_SIM_PORT', 'PORT'], as('port', readPort)),
  row('host', '--host', 'host', ['HANDOVER_SIM_HOST'], as('host', readHost)),
  row('webhook.url', '--webhook-url', 'webhookUrl', ['HANDOVER_SIM_WEBHOOK_URL'], as('httpUrl', readHttpUrl)),
  row('keys.handover', '--api-key', 'apiKey', ['HANDOVER_SIM_API_KEY'], knob('keys.handover')),
  row('keys.bot', '--bot-api-key', 'botApiKey', ['HANDOVER_SIM_BOT_API_KEY'], knob('keys.bot')),
  row('base_url', '--base-url', 'baseUrl', ['HANDOVER_SIM_BASE_URL'], as('baseUrl', readBaseUrl)),
  row('seed', '--seed', 'seed', ['HANDOVER_SIM_SEED'], as('seed', readSeed)),
  row('clock', '--clock', 'clock', ['HANDOVER_SIM_CLOCK'], as('clock', readClock)),
]
