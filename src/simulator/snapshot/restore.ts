/** Puts a snapshot in the place of everything there is: all of it or, when it cannot be, nothing. */
import type { Chat } from '../../platform/state.ts'
import type { Core } from '../core.ts'
import { applySettings } from '../settings.ts'
import { checkSnapshot, type Restoration } from './check.ts'
import { deadlineFromRow, jobFromRow } from './deliveries.ts'
import { keyRoles } from './key-roles.ts'
import { botFromRow, chatFromRow, fileFromRow } from './rows.ts'
import type { Snapshot } from './shape.ts'

/** Throws `InvalidSnapshot`. What was in flight is cut off as by a reset. */
export async function restoreSnapshot(core: Core, raw: unknown): Promise<void> {
  putBack(core, await checkSnapshot(core, raw))()
}

/** In one step. Call what it returns to let timers run and deliveries go on. */
export function putBack(core: Core, { snapshot, settings }: Restoration): () => void {
  const before = new Map(core.room.state.chats)
  core.forget()
  core.identity.seed = snapshot.seed
  core.identity.bot = botFrom(snapshot)
  if (core.clock.mode === 'virtual') core.clock.set(snapshot.clock.start_ms!, snapshot.clock.now_ms)
  applySettings(core, settings)
  putState(core, snapshot, before)
  putKeys(core, snapshot)
  putFaults(core, snapshot)
  core.inner.stamps.reset(snapshot.going_on.stamp)
  core.inner.journalStamps.reset(snapshot.going_on.journal_stamp)
  const { next_seq: nextSeq, at_ms: atMs, entries = [] } = snapshot.journal
  const resumed = core.inner.dispatcher.resume(keptDeliveries(snapshot))
  core.journal.resume({ nextSeq, atMs, entries })
  core.inner.past.before = nextSeq
  return () => {
    const alarm = { order: snapshot.going_on.alarm_order ?? Number.POSITIVE_INFINITY, arm: core.inner.alarm.set }
    for (const { arm } of [...resumed.timers, alarm].sort((a, b) => a.order - b.order)) arm()
    resumed.go()
  }
}

const botFrom = ({ bot: { id, name, organization_id } }: Snapshot) => ({ id, name, organizationId: organization_id })

/** A chat that goes on stays the same object: whoever holds it sees what was restored. */
function putState(core: Core, snapshot: Snapshot, before: ReadonlyMap<string, Chat>): void {
  const { room, inner } = core
  const { state } = room
  for (const row of snapshot.bots) state.bots.set(row.id, botFromRow(row))
  for (const row of snapshot.files) state.files.set(row.id, fileFromRow(row))
  for (const row of snapshot.chats) {
    const chat = chatFromRow(row, room.words(row.id), state.files)
    state.chats.set(row.id, Object.assign(before.get(row.id) ?? {}, chat))
    if (row.last_event !== null) inner.lastEvent.set(row.id, row.last_event)
  }
  for (const row of snapshot.deadlines) state.deadlines.set(row.key, row.at_ms, deadlineFromRow(row))
  state.chatCounter = snapshot.counters.chats
  state.summaryCounter = snapshot.counters.summaries
}

/** Keys this restore replaced do not live on, only those the snapshot says so of. */
function putKeys({ inner, keyring, room }: Core, { replaced_keys = [], rate_limits }: Snapshot): void {
  inner.refreshBots()
  keyring.forgetReplaced()
  const replaced = replaced_keys.map(({ key, bot_id, scopes, until_ms }) => ({
    key,
    botId: bot_id,
    scopes,
    untilMs: until_ms,
  }))
  keyring.keepReplaced(replaced)
  const keys = new Map(keyRoles(room.knobs).map(({ role, key }) => [role, key]))
  const windows = rate_limits.filter(({ key }) => keys.has(key))
  inner.rateLimit.reset(windows.map(({ key, start_ms, calls }) => [keys.get(key)!, { start: start_ms, calls }]))
}

function putFaults({ inner }: Core, { faults, counters }: Snapshot): void {
  const rules = faults.map(({ name, spec, ...progress }) => ({ name, spec, progress }))
  inner.faults.resume({ made: counters.faults, rules })
}

const keptDeliveries = ({ deliveries, going_on, counters }: Snapshot) => ({
  jobs: deliveries.map(jobFromRow),
  random: going_on.random,
  triggered: counters.triggered,
})
