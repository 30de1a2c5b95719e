/** Takes a snapshot: in one step, so that everything in it belongs together. */
import { showKnobs } from '../../contract/knobs.ts'
import { VERSION } from '../../contract/version.ts'
import { maskEntry } from '../../journal/mask.ts'
import { wallTime } from '../../runtime/clock.ts'
import type { KeptJob } from '../../webhooks/job.ts'
import type { Core } from '../core.ts'
import { effectiveConfig } from '../settings.ts'
import { deadlineRows, deliveryRow } from './deliveries.ts'
import { keyRoles } from './key-roles.ts'
import { botRow, chatRow, fileRow } from './rows.ts'
import { type JournalRows, SNAPSHOT_VERSION, type Snapshot, type SnapshotOptions } from './shape.ts'

/** Plain JSON, and nobody else's: what happens after cannot change it. */
export function takeSnapshot(core: Core, options: SnapshotOptions = {}): Snapshot {
  const { room, inner, identity, clock } = core
  const { bot } = identity
  const deliveries = inner.dispatcher.keep()
  const rank = ranking(deliveries.jobs, inner.alarm.order)
  const faults = inner.faults.keep()
  const snapshot: Snapshot = {
    v: SNAPSHOT_VERSION,
    handover_sim: VERSION,
    taken_at: wallTime(),
    seed: identity.seed,
    bot: { id: bot.id, name: bot.name, organization_id: bot.organizationId },
    clock: { mode: clock.mode, now_ms: clock.now(), ...startOf(core) },
    config: configOf(core, options),
    ...(options.keys ? { replaced_keys: replacedKeys(core) } : {}),
    bots: [...room.state.bots.values()].map(botRow),
    chats: [...room.state.chats.values()].map(chat => chatRow(chat, inner.lastEvent.get(chat.id) ?? null)),
    files: [...room.state.files.values()].map(fileRow),
    deadlines: deadlineRows(room.state),
    counters: {
      chats: room.state.chatCounter,
      summaries: room.state.summaryCounter,
      triggered: deliveries.triggered,
      faults: faults.made,
    },
    faults: faults.rules.map(({ name, spec, progress }) => ({ name, spec, ...progress })),
    deliveries: deliveries.jobs.map(job => deliveryRow(job, rank)),
    rate_limits: rateLimits(core),
    going_on: {
      stamp: inner.stamps.last,
      journal_stamp: inner.journalStamps.last,
      random: deliveries.random,
      alarm_order: inner.alarm.order === null ? null : rank(inner.alarm.order),
    },
    journal: journalOf(core, options),
  }
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot
}

/** Timers by their place among each other: the same state gives the same snapshot. */
function ranking(jobs: readonly KeptJob[], alarm: number | null): (order: number) => number {
  const due = jobs.flatMap(({ stage }) => (stage.kind === 'due' ? [stage.order] : []))
  const sorted = [...due, ...(alarm === null ? [] : [alarm])].sort((a, b) => a - b)
  return order => sorted.indexOf(order)
}

const startOf = ({ clock }: Core) => (clock.mode === 'virtual' ? { start_ms: clock.startMs } : {})

function configOf(core: Core, { keys }: SnapshotOptions): Record<string, unknown> {
  const { seed: _, clock: __, 'bot.id': ___, 'bot.name': ____, ...config } = effectiveConfig(core)
  return keys ? { ...config, ...showKnobs(core.room.knobs) } : config
}

const replacedKeys = ({ keyring }: Core) =>
  keyring.replaced().map(({ key, botId, scopes, untilMs }) => ({ key, bot_id: botId, scopes, until_ms: untilMs }))

/** By the part a key plays: the key itself would be a secret. */
function rateLimits({ inner, room }: Core) {
  const roles = keyRoles(room.knobs)
  return [...inner.rateLimit.windows].flatMap(([key, { start, calls }]) => {
    const role = roles.find(one => one.key === key)?.role
    return role === undefined ? [] : [{ key: role, start_ms: start, calls }]
  })
}

function journalOf({ journal, room }: Core, { keys, journal: wanted }: SnapshotOptions): JournalRows {
  const ending = { next_seq: journal.nextSeq, at_ms: journal.atMs }
  if (!wanted) return ending
  const shown = journal.query().map(entry => (keys ? entry : maskEntry(entry, room.knobs['webhook.signatureHeader'])))
  return { ...ending, entries: shown }
}
