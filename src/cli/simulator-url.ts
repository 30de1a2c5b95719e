/** Finds the URL of a running simulator: a flag, HANDOVER_SIM_URL, or the configured port on this machine. */
import { resolveSettings } from '../config/resolve.ts'
import type { SettingFlags } from '../config/settings.ts'
import { urlOf } from '../server/addresses.ts'
import { httpUrl } from '../simulator/options.ts'
import { UsageError } from './errors.ts'
import type { Context } from './io.ts'
import { configSources } from './shared-flags.ts'

export interface SimulatorFlags extends Pick<SettingFlags, 'port' | 'config'> {
  readonly url?: string
}

const address = httpUrl('http://127.0.0.1:4747')

export async function simulatorUrl(context: Context, flags: SimulatorFlags): Promise<string> {
  const [from, given] =
    flags.url === undefined ? ['HANDOVER_SIM_URL', context.env.HANDOVER_SIM_URL] : ['--url', flags.url]
  if (given && flags.port === undefined) {
    if (!address.fits(given))
      throw new UsageError(`${from}: must be ${address.expected}, got ${JSON.stringify(given)}.`)
    return given.replace(/\/+$/, '')
  }
  const { values } = await resolveSettings(flags, configSources(context))
  if (values.port === 0) throw new UsageError('--url is needed: the configured port is 0, which may be any.')
  return urlOf(String(values.host), Number(values.port))
}
