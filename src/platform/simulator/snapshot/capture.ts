/** Captures the whole state of a simulator as JSON. */

import { BUDGETS } from '../../../base/files/budgets.ts'
import { wallTime } from '../../../base/runtime/clock.ts'
import { latin1Text } from '../../../base/runtime/encoding.ts'
import { keyRoles } from '../../api/access.ts'
import { formatKnobs } from '../../contract/knobs.ts'
import { VERSION } from '../../contract/version.ts'
import { maskEntry } from '../../journal/mask.ts'
import type { Core } from '../core.ts'
import { effectiveConfig } from '../settings.ts'
import { InvalidSnapshotError } from './invalid-snapshot.ts'
import type { Snapshot } from './schema.ts'

export const SNAPSHOT_VERSION = 1

export interface SnapshotOptions {
  /** Includes the API keys. Without them a restore keeps the keys of the simulator it restores. */
  readonly keys?: boolean
  /** Includes the journal. Without it a restored journal is empty and continues with the next `seq`. */
  readonly journal?: boolean
}

/** The result is plain JSON and shares no object with the simulator. Without `keys`, it has no secrets. */
export function captureSnapshot(core: Core, options: SnapshotOptions = {}): Snapshot {
  return JSON.parse([...snapshotParts(core, options)].join(''))
}

/** About as many characters are written before other work of the process may continue. */
const PART = 256 * 1024

/**
 * The snapshot as text for a file or a response, part by part, because a large one takes seconds. Throws
 * `InvalidSnapshotError` when it becomes too large to be read again.
 */
export function* snapshotText(core: Core, options: SnapshotOptions = {}): Generator<string> {
  let size = 0
  for (const part of snapshotParts(core, options)) {
    size += Buffer.byteLength(part)
    if (size > BUDGETS.stateBytes) {
      const message = `The snapshot has more than ${BUDGETS.stateBytes} bytes; at most as many are written and read. Reset the simulator, or send smaller attachments.`
      throw new InvalidSnapshotError([{ name: 'snapshot', message }])
    }
    yield part
  }
}

/** Captures the state at once, and writes it as JSON in parts. */
function* snapshotParts(core: Core, options: SnapshotOptions): Generator<string> {
  let part = ''
  const write = (value: unknown) => JSON.stringify(options.keys ? value : core.secrets.redactDeep(value))
  for (const text of jsonParts(plainSnapshot(core, options), 4, write)) {
    part += text
    if (part.length < PART) continue
    yield part
    part = ''
  }
  yield part
}

/** Writes the fields and elements of the first `levels` one by one. A function makes its JSON when it is written. */
function* jsonParts(value: unknown, levels: number, write: (value: unknown) => string): Generator<string> {
  if (typeof value === 'function') return yield value()
  if (levels === 0 || typeof value !== 'object' || value === null) return yield write(value)
  const [opening, closing] = Array.isArray(value) ? '[]' : '{}'
  yield opening!
  let separator = ''
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue
    yield Array.isArray(value) ? separator : `${separator}${JSON.stringify(name)}:`
    yield* jsonParts(item, levels - 1, write)
    separator = ','
  }
  yield closing!
}

/** The state, with copies of all that may change. Texts are redacted and files are encoded when they are written. */
function plainSnapshot(core: Core, { keys = false, journal = false }: SnapshotOptions): object {
  const { clock, identity, access, platform, secrets } = core
  const { state, knobs } = platform
  const { seed: _, clock: __, 'bot.id': ___, 'bot.name': ____, ...config } = effectiveConfig(core)
  const deliveries = core.dispatcher.capture()
  const faults = core.faultRegistry.capture()
  const roles = new Map(keyRoles(knobs).map(({ role, key }) => [key, role]))
  const encoded = (bytes: Uint8Array) => {
    const text = latin1Text(bytes)
    // Secrets in files are replaced before the bytes are encoded, because *** is no base64.
    return btoa(keys ? text : secrets.redact(text))
  }
  const files = [...state.files.values()].map(
    ({ bytes, ...file }) =>
      () =>
        JSON.stringify({ ...file, base64: bytes === null ? null : encoded(bytes) }),
  )
  return {
    v: SNAPSHOT_VERSION,
    handover_sim: VERSION,
    taken_at: wallTime(),
    seed: identity.seed,
    bot: identity.bot,
    clock:
      clock.mode === 'virtual'
        ? { mode: clock.mode, nowMs: clock.now(), startMs: clock.startMs }
        : { mode: clock.mode, nowMs: clock.now(), paused: clock.isPaused() },
    config: keys ? { ...config, ...formatKnobs(knobs) } : config,
    replacedKeys: keys ? access.keyring.replaced() : undefined,
    bots: [...state.bots.values()].map(({ queues, ...bot }) => ({
      ...bot,
      queues: [...queues].map(([name, queue]) => ({ name, ...queue })),
    })),
    chats: [...state.chats.values()].map(({ words: _words, messages, ...chat }) => ({
      ...chat,
      lastEvent: core.committer.lastEvent.get(chat.id) ?? null,
      messages: messages.map(({ seq: _seq, record: _record, ...message }) => ({
        ...message,
        attachments: message.attachments.map(({ id }) => id),
      })),
    })),
    deadlines: state.deadlines.list().map(({ key, atMs, deadline }) => ({ key, atMs, ...deadline })),
    counters: {
      chats: state.chatCounter,
      summaries: state.summaryCounter,
      triggered: deliveries.triggered,
      faults: faults.made,
    },
    faults: faults.rules,
    deliveries: deliveries.events,
    rateLimits: [...core.access.rateLimit.windows()].flatMap(([key, window]) => {
      const role = roles.get(key)
      return role === undefined ? [] : [{ key: role, ...window }]
    }),
    continuation: {
      stamp: core.numbering.stamps.last(),
      journalStamp: core.numbering.journalStamps.last(),
      random: deliveries.random,
    },
    journal: {
      nextSeq: core.journal.nextSeq,
      atMs: core.journal.atMs,
      entries: journal
        ? core.journal.query().map(entry => (keys ? entry : maskEntry(entry, knobs['webhook.signatureHeader'])))
        : undefined,
    },
    files,
  }
}
