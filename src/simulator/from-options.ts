/** Converts options into the parts of a simulator. */

import type { Settings } from '../platform/context.ts'
import { readBusinessHours } from '../platform/hours.ts'
import type { BotSpec } from '../platform/platform.ts'
import { createRealClock, createVirtualClock, type RealClock, type VirtualClock } from '../runtime/clock.ts'
import { functionTransport, httpTransport, type Transport } from '../runtime/transport.ts'
import { DEFAULTS, InvalidOptionError, type PlatformSimulatorOptions } from './options.ts'

export const botFrom = ({ bot }: PlatformSimulatorOptions): BotSpec => ({
  id: bot?.id ?? DEFAULTS.botId,
  name: bot?.name ?? DEFAULTS.botName,
  organizationId: bot?.organizationId ?? DEFAULTS.organizationId,
})

export function clockFrom({ clock = 'virtual' }: PlatformSimulatorOptions): RealClock | VirtualClock {
  if (clock === 'real') return createRealClock()
  const start = typeof clock === 'object' && clock.start !== undefined ? new Date(clock.start).getTime() : undefined
  if (start === undefined || Number.isFinite(start)) return createVirtualClock(start)
  throw new InvalidOptionError([
    { name: 'clock.start', message: 'clock.start must be a date such as 2024-01-01T09:00:00Z.' },
  ])
}

export function hoursFrom(raw: PlatformSimulatorOptions['businessHours']): Settings['businessHours'] {
  if (raw === null || raw === undefined) return null
  const read = readBusinessHours(raw)
  if ('week' in read) return read
  const name = `business_hours.${read.key}`
  throw new InvalidOptionError([{ name, message: `${name} ${read.message}.` }])
}

export type ClosableTransport = Transport & { close?(): Promise<void> }

export const transportFrom = (options: PlatformSimulatorOptions, shared?: Transport): ClosableTransport => {
  if (options.webhook?.fetch) return functionTransport(options.webhook.fetch)
  return shared === undefined ? httpTransport() : request => shared(request)
}

/** A webhook function needs no address, but its requests need a URL. */
export function targetOf(options: PlatformSimulatorOptions, url: string | null, transport: Transport) {
  const address = url ?? (options.webhook?.fetch ? 'https://intermediary.example.test/webhook' : null)
  return address === null ? null : { url: address, transport }
}
