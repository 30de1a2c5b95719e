/** The single parts of a simulator, made from its options. */
import type { Knobs } from '../contract/knobs.ts'
import { readBusinessHours } from '../platform/hours.ts'
import type { BotSpec } from '../platform/platform.ts'
import type { Room, Settings } from '../platform/room.ts'
import { createState } from '../platform/state.ts'
import { type Clock, createRealClock, createVirtualClock, type VirtualClock } from '../runtime/clock.ts'
import { makeId } from '../runtime/ids.ts'
import { hashWords } from '../runtime/random.ts'
import { functionTransport, httpTransport, type Transport } from '../runtime/transport.ts'
import { DEFAULTS, InvalidSetting, type SimulatorOptions } from './options.ts'

/** Everything remembered, forgotten. */
export function clearState({ state }: Room): void {
  state.bots.clear()
  state.chats.clear()
  state.files.clear()
  state.deadlines.clear()
  state.chatCounter = 0
  state.summaryCounter = 0
}

/** Who the simulator is; a snapshot brings its own. */
export interface Identity {
  seed: number
  bot: BotSpec
}

/** Where it is: not part of any state. */
export interface Address {
  base: string
  webhookUrl: string | null
  /** What stands before the id in the links of attachments, where several simulators share a base URL. */
  readonly filesOf: string
}

export interface RoomParts {
  readonly identity: Identity
  readonly knobs: Knobs
  readonly clock: Clock
  stamp(): number
  readonly address: Address
  readonly settings: Settings
}

export function createRoom({ identity, knobs, clock, stamp, address, settings }: RoomParts): Room {
  return {
    state: createState(),
    knobs,
    settings,
    nowMs: clock.now,
    stamp,
    id: (form, label) => makeId(form, identity.seed, label),
    words: label => hashWords(label, identity.seed),
    links: {
      chat: id => `${address.base}/api/v1/chats/${encodeURIComponent(id)}`,
      file: (id, name) => `${address.base}/files/${address.filesOf}${id}/${encodeURIComponent(name)}`,
      fileId: segment => (segment.startsWith(address.filesOf) ? segment.slice(address.filesOf.length) : null),
    },
  }
}

export const botFrom = ({ bot }: SimulatorOptions): BotSpec => ({
  id: bot?.id ?? DEFAULTS.botId,
  name: bot?.name ?? DEFAULTS.botName,
  organizationId: bot?.organizationId ?? DEFAULTS.organizationId,
})

export function clockFrom({ clock = 'virtual' }: SimulatorOptions): Clock | VirtualClock {
  if (clock === 'real') return createRealClock()
  const start = typeof clock === 'object' && clock.start !== undefined ? new Date(clock.start).getTime() : undefined
  if (start === undefined || Number.isFinite(start)) return createVirtualClock(start)
  throw new InvalidSetting([
    { name: 'clock.start', message: 'clock.start must be a date such as 2024-01-01T09:00:00Z.' },
  ])
}

export function hoursFrom(raw: SimulatorOptions['businessHours']): Settings['businessHours'] {
  if (raw === null || raw === undefined) return null
  const read = readBusinessHours(raw)
  if ('week' in read) return read
  const name = `business_hours.${read.key}`
  throw new InvalidSetting([{ name, message: `${name} ${read.message}.` }])
}

type ClosableTransport = Transport & { close?(): Promise<void> }

export const transportFrom = (options: SimulatorOptions, shared?: Transport): ClosableTransport => {
  if (options.webhook?.fetch) return functionTransport(options.webhook.fetch)
  return shared === undefined ? httpTransport() : request => shared(request)
}

/** A webhook function needs no address of its own, but its requests have to have one. */
export function targetOf(options: SimulatorOptions, url: string | null, transport: Transport) {
  const address = url ?? (options.webhook?.fetch ? 'https://intermediary.example.test/webhook' : null)
  return address === null ? null : { url: address, transport }
}
