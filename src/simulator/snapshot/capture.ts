/** Captures the whole state of a simulator in one synchronous step, so that its parts belong to the same moment. */
import { keyRoles } from '../../api/keyring.ts'
import { formatKnobs } from '../../contract/knobs.ts'
import { VERSION } from '../../contract/version.ts'
import { maskEntry } from '../../journal/mask.ts'
import { wallTime } from '../../runtime/clock.ts'
import type { CapturedJob } from '../../webhooks/job.ts'
import type { Core } from '../core.ts'
import { effectiveConfig } from '../settings.ts'
import { botRow, chatRow, deadlineRow, deliveryRow, fileRow, replacedKeyRow } from './rows.ts'
import type { Snapshot } from './schema.ts'

export const SNAPSHOT_VERSION = 1

export interface SnapshotOptions {
  /** Includes the API keys. Without them a restore keeps the keys of the simulator it restores. */
  readonly keys?: boolean
  /** Includes the journal. Without it a restored journal is empty and continues with the next `seq`. */
  readonly journal?: boolean
}

/** The result is plain JSON and shares no object with the simulator. */
export function captureSnapshot(core: Core, options: SnapshotOptions = {}): Snapshot {
  const { platform, internals, identity } = core
  const { bot } = identity
  const deliveries = internals.dispatcher.capture()
  const rank = ranking(deliveries.jobs, internals.deadlineTimer.order)
  const faults = internals.faults.capture()
  const snapshot: Snapshot = {
    v: SNAPSHOT_VERSION,
    handover_sim: VERSION,
    taken_at: wallTime(),
    seed: identity.seed,
    bot: { id: bot.id, name: bot.name, organization_id: bot.organizationId },
    clock: clockOf(core),
    config: configOf(core, options),
    ...(options.keys ? { replaced_keys: core.keyring.replaced().map(replacedKeyRow) } : {}),
    bots: [...platform.state.bots.values()].map(botRow),
    chats: [...platform.state.chats.values()].map(chat => chatRow(chat, internals.lastEvent.get(chat.id) ?? null)),
    files: [...platform.state.files.values()].map(fileRow),
    deadlines: platform.state.deadlines.list().map(deadlineRow),
    counters: {
      chats: platform.state.chatCounter,
      summaries: platform.state.summaryCounter,
      triggered: deliveries.triggered,
      faults: faults.made,
    },
    faults: faults.rules.map(({ name, spec, progress }) => ({ name, spec, ...progress })),
    deliveries: deliveries.jobs.map(job => deliveryRow(job, rank)),
    rate_limits: rateLimits(core),
    continuation: {
      stamp: internals.stamps.last,
      journal_stamp: internals.journalStamps.last,
      random: deliveries.random,
      deadline_timer_order: internals.deadlineTimer.order === null ? null : rank(internals.deadlineTimer.order),
    },
    journal: journalOf(core, options),
  }
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot
}

/** Numbers timers by their order, so that equal states give equal snapshots. */
function ranking(jobs: readonly CapturedJob[], deadlineTimer: number | null): (order: number) => number {
  const due = jobs.flatMap(({ phase }) => (phase.kind === 'scheduled' ? [phase.order] : []))
  const sorted = [...due, ...(deadlineTimer === null ? [] : [deadlineTimer])].sort((a, b) => a - b)
  return order => sorted.indexOf(order)
}

function clockOf({ clock }: Core): Snapshot['clock'] {
  const now = { now_ms: clock.now() }
  return clock.mode === 'virtual' ? { mode: clock.mode, ...now, start_ms: clock.startMs } : { mode: clock.mode, ...now }
}

function configOf(core: Core, { keys }: SnapshotOptions): Record<string, unknown> {
  const { seed: _, clock: __, 'bot.id': ___, 'bot.name': ____, ...config } = effectiveConfig(core)
  return keys ? { ...config, ...formatKnobs(core.platform.knobs) } : config
}

/** Names each key by its role, because the key itself is a secret. */
function rateLimits({ internals, platform }: Core) {
  const roles = new Map(keyRoles(platform.knobs).map(({ role, key }) => [key, role]))
  return [...internals.rateLimit.windows].flatMap(([key, { start, calls }]) => {
    const role = roles.get(key)
    return role === undefined ? [] : [{ key: role, start_ms: start, calls }]
  })
}

function journalOf({ journal, platform }: Core, { keys, journal: wanted }: SnapshotOptions): Snapshot['journal'] {
  const ending = { next_seq: journal.nextSeq, at_ms: journal.atMs }
  if (!wanted) return ending
  const entries = journal
    .query()
    .map(entry => (keys ? entry : maskEntry(entry, platform.knobs['webhook.signatureHeader'])))
  return { ...ending, entries }
}
