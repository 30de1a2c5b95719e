/** The settings a flag or a variable can give as text. */
import type { KnobName } from '../contract/knobs.ts'
import { readKnob } from '../simulator/options.ts'
import { MUST, readBaseUrl, readClock, readHost, readHttpUrl, readPort, readSeed } from './values.ts'

/** The flags that set something, as the command line gives them. */
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
  /** The value, or what it must be. */
  read(text: string): { value: unknown } | string
}

const read =
  <T>(parse: (text: string) => T | undefined, must: string): TextSetting['read'] =>
  text => {
    const value = parse(text)
    return value === undefined ? must : { value }
  }
const knob =
  (name: KnobName): TextSetting['read'] =>
  text => {
    const result = readKnob(name, text)
    return 'message' in result ? result.message.replace(/^\S+ /, '').replace(/, got .*$/s, '') : { value: text }
  }
const row = (
  name: string,
  flag: string,
  option: keyof SettingFlags,
  env: readonly string[],
  how: TextSetting['read'],
): TextSetting => ({ name, flag, option, env, read: how })

export const TEXT_SETTINGS: readonly TextSetting[] = [
  row('port', '--port', 'port', ['HANDOVER_SIM_PORT', 'PORT'], read(readPort, MUST.port)),
  row('host', '--host', 'host', ['HANDOVER_SIM_HOST'], read(readHost, MUST.host)),
  row('webhook.url', '--webhook-url', 'webhookUrl', ['HANDOVER_SIM_WEBHOOK_URL'], read(readHttpUrl, MUST.httpUrl)),
  row('keys.handover', '--api-key', 'apiKey', ['HANDOVER_SIM_API_KEY'], knob('keys.handover')),
  row('keys.bot', '--bot-api-key', 'botApiKey', ['HANDOVER_SIM_BOT_API_KEY'], knob('keys.bot')),
  row('base_url', '--base-url', 'baseUrl', ['HANDOVER_SIM_BASE_URL'], read(readBaseUrl, MUST.baseUrl)),
  row('seed', '--seed', 'seed', ['HANDOVER_SIM_SEED'], read(readSeed, MUST.seed)),
  row('clock', '--clock', 'clock', ['HANDOVER_SIM_CLOCK'], read(readClock, MUST.clock)),
]
