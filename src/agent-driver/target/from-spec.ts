/** The `target:` of a driver, told where the simulator is. */
import { fill } from '../../scenario/interpolation.ts'
import type { Environment } from '../call/scope.ts'
import type { TargetSpec } from '../spec.ts'
import { createTarget, type Target } from './control.ts'

/** The simulator as an intermediary needs to know it. */
export interface Platform {
  readonly url: string
  readonly apiKey: string
  readonly botApiKey: string
  /** The API key unless said. */
  readonly webhookSecret?: string
  readonly botId: number
}

export const variablesFor = ({ url, apiKey, botApiKey, webhookSecret, botId }: Platform) => ({
  HANDOVER_SIM_URL: url,
  HANDOVER_SIM_API_KEY: apiKey,
  HANDOVER_SIM_BOT_API_KEY: botApiKey,
  HANDOVER_SIM_WEBHOOK_SECRET: webhookSecret ?? apiKey,
  HANDOVER_SIM_BOT_ID: String(botId),
})

export interface Around {
  readonly env: Environment
  readonly sim: Platform
  readonly onLost?: ((why: string) => void) | undefined
}

export function targetOf(spec: TargetSpec, { env, sim, onLost }: Around): Target {
  const scope = { env, sim: { url: sim.url, api_key: sim.apiKey, bot_id: sim.botId } }
  const text = (template: string) => String(fill(template, scope))
  const own = Object.fromEntries(Object.entries(spec.env).map(([name, value]) => [name, text(value)]))
  const start = {
    name: 'The target',
    command: spec.command.map(text),
    cwd: spec.folder,
    env: { ...env, ...variablesFor(sim), ...own },
    ready: text(spec.ready),
    readyTimeoutMs: spec.readyTimeoutMs,
  }
  return createTarget({ start: () => start, stopTimeoutMs: spec.stopTimeoutMs, onLost })
}
