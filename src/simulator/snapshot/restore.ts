/** Replaces the whole state of a simulator with a snapshot; changes nothing when the snapshot is invalid. */
import { keyRoles } from '../../api/keyring.ts'

import type { Chat } from '../../platform/state.ts'
import type { Core } from '../core.ts'
import { applySettings } from '../settings.ts'
import { checkSnapshot, type Restoration } from './check.ts'
import { botFromRow, chatFromRow, deadlineFromRow, fileFromRow, jobFromRow, replacedKeyFromRow } from './rows.ts'
import type { Snapshot } from './schema.ts'

/** Throws `InvalidSnapshotError`. Aborts requests and deliveries in flight, as a reset does. */
export async function restoreSnapshot(core: Core, raw: unknown): Promise<void> {
  applySnapshot(core, await checkSnapshot(core, raw))()
}

/** Restores in one synchronous step. The function it returns starts the timers and the deliveries. */
export function applySnapshot(core: Core, { snapshot, settings }: Restoration): () => void {
  const before = new Map(core.platform.state.chats)
  core.forget()
  core.identity.seed = snapshot.seed
  core.identity.bot = botFrom(snapshot)
  if (core.clock.mode === 'virtual' && snapshot.clock.mode === 'virtual')
    core.clock.set(snapshot.clock.start_ms, snapshot.clock.now_ms)
  applySettings(core, settings)
  restoreState(core, snapshot, before)
  restoreKeys(core, snapshot)
  restoreFaults(core, snapshot)
  core.internals.stamps.reset(snapshot.continuation.stamp)
  core.internals.journalStamps.reset(snapshot.continuation.journal_stamp)
  const { next_seq: nextSeq, at_ms: atMs, entries = [] } = snapshot.journal
  const deliveries = core.internals.dispatcher.restore(capturedDeliveries(snapshot))
  core.journal.restore({ nextSeq, atMs, entries })
  core.internals.restorePoint.seq = nextSeq
  return () => {
    const deadlineTimer = {
      order: snapshot.continuation.deadline_timer_order ?? Number.POSITIVE_INFINITY,
      arm: core.internals.deadlineTimer.set,
    }
    for (const { arm } of [...deliveries.timers, deadlineTimer].sort((a, b) => a.order - b.order)) arm()
    deliveries.start()
  }
}

const botFrom = ({ bot: { id, name, organization_id } }: Snapshot) => ({ id, name, organizationId: organization_id })

/** Keeps the object of a chat that also exists in the snapshot, so that its handles show the restored state. */
function restoreState(core: Core, snapshot: Snapshot, before: ReadonlyMap<string, Chat>): void {
  const { platform, internals } = core
  const { state } = platform
  for (const row of snapshot.bots) state.bots.set(row.id, botFromRow(row))
  for (const row of snapshot.files) state.files.set(row.id, fileFromRow(row))
  for (const row of snapshot.chats) {
    const chat = chatFromRow(row, platform.words(row.id), state.files)
    state.chats.set(row.id, Object.assign(before.get(row.id) ?? {}, chat))
    if (row.last_event !== null) internals.lastEvent.set(row.id, row.last_event)
  }
  for (const row of snapshot.deadlines) state.deadlines.set(row.key, row.at_ms, deadlineFromRow(row))
  state.chatCounter = snapshot.counters.chats
  state.summaryCounter = snapshot.counters.summaries
}

/** Of the replaced keys, only those in the snapshot stay valid. */
function restoreKeys({ internals, keyring, platform }: Core, { replaced_keys = [], rate_limits }: Snapshot): void {
  internals.refreshBots()
  keyring.forgetReplaced()
  keyring.restoreReplaced(replaced_keys.map(replacedKeyFromRow))
  const keys = new Map(keyRoles(platform.knobs).map(({ role, key }) => [role, key]))
  const windows = rate_limits.flatMap(({ key: role, start_ms: start, calls }) => {
    const key = keys.get(role)
    return key === undefined ? [] : [[key, { start, calls }] as const]
  })
  internals.rateLimit.reset(windows)
}

function restoreFaults({ internals }: Core, { faults, counters }: Snapshot): void {
  const rules = faults.map(({ name, spec, ...progress }) => ({ name, spec, progress }))
  internals.faults.restore({ made: counters.faults, rules })
}

const capturedDeliveries = ({ deliveries, continuation, counters }: Snapshot) => ({
  jobs: deliveries.map(jobFromRow),
  random: continuation.random,
  triggered: counters.triggered,
})
