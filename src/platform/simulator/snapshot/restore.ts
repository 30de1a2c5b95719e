/** Replaces the whole state of a simulator with a snapshot; changes nothing when the snapshot is invalid. */

import { isMap } from '../../../base/objects.ts'
import { decodeBase64 } from '../../../base/runtime/encoding.ts'
import { inPieces } from '../../../base/runtime/pieces.ts'
import { keyRoles } from '../../api/keyring.ts'
import { describeIssues } from '../../api/schema-checks.ts'
import { checkInSteps } from '../../contract/check-in-steps.ts'
import { VERSION } from '../../contract/version.ts'
import { MASK } from '../../journal/mask.ts'
import type { Chat, PlatformState } from '../../rules/state.ts'
import { sizeOfChat, sizeOfFault, sizeOfSender } from '../../rules/state-memory.ts'
import type { Core } from '../core.ts'
import { InvalidOptionError, type SettingProblem } from '../options.ts'
import { applySettings, checkEngine, type ReadSettings, readSettings } from '../settings.ts'
import {
  botFromRow,
  camelCase,
  chatFromRow,
  deadlineFromRow,
  fileFromRow,
  jobFromRow,
  SNAPSHOT_VERSION,
} from './capture.ts'
import { InvalidSnapshotError } from './invalid-snapshot.ts'
import type { Snapshot } from './schema.ts'

/** Throws `InvalidSnapshotError`. Aborts requests and deliveries in flight, as a reset does. */
export async function restoreSnapshot(core: Core, raw: unknown): Promise<void> {
  applySnapshot(core, await checkSnapshot(core, raw))()
}

/** Restores in one synchronous step. The function it returns starts the timers and the deliveries. */
export function applySnapshot(core: Core, { snapshot, settings, contents }: Restoration): () => void {
  const before = new Map(core.platform.state.chats)
  core.forget()
  core.identity.seed = snapshot.seed
  core.identity.bot = camelCase(snapshot.bot)
  restoreClock(core, snapshot.clock)
  applySettings(core, settings)
  restoreState(core, snapshot, before, contents)
  restoreKeys(core, snapshot)
  restoreFaults(core, snapshot)
  core.stamps.reset(snapshot.continuation.stamp)
  core.journalStamps.reset(snapshot.continuation.journal_stamp)
  const { next_seq: nextSeq, at_ms: atMs, entries = [] } = snapshot.journal
  const deliveries = core.dispatcher.restore(capturedDeliveries(snapshot))
  core.journal.restore({ nextSeq, atMs, entries })
  core.restorePoint.seq = nextSeq
  return () => {
    const deadlineTimer = {
      order: snapshot.continuation.deadline_timer_order ?? Number.POSITIVE_INFINITY,
      arm: core.deadlineTimer.set,
    }
    for (const { arm } of [...deliveries.timers, deadlineTimer].sort((a, b) => a.order - b.order)) arm()
    deliveries.start()
  }
}

/** The modes are the same. A real clock shows the time of the machine again, unless that of the snapshot stood still. */
function restoreClock({ clock }: Core, from: Snapshot['clock']): void {
  if (clock.mode === 'virtual' && from.mode === 'virtual') return clock.set(from.start_ms, from.now_ms)
  clock.rewind()
  if (clock.mode === 'real' && from.mode === 'real' && from.paused) clock.pause(from.now_ms)
}

/** Keeps the object of a chat that also exists in the snapshot, so that its handles show the restored state. */
function restoreState(core: Core, snapshot: Snapshot, before: ReadonlyMap<string, Chat>, contents: FileContents): void {
  const { platform } = core
  const { state } = platform
  for (const row of snapshot.bots) state.bots.set(row.id, botFromRow(row))
  for (const row of snapshot.files) state.files.set(row.id, fileFromRow(row, contents.get(row.id) ?? null))
  for (const row of snapshot.chats) {
    const chat = chatFromRow(row, platform.words(row.id), state.files)
    state.chats.set(row.id, Object.assign(before.get(row.id) ?? {}, chat))
    if (row.last_event !== null) core.lastEvent.set(row.id, row.last_event)
  }
  restoreMessageMemory(state)
  state.memory.add(sizeOfState(snapshot))
  for (const row of snapshot.deadlines) state.deadlines.set(row.key, row.at_ms, deadlineFromRow(row))
  state.chatCounter = snapshot.counters.chats
  state.summaryCounter = snapshot.counters.summaries
}

/** The memory of what a snapshot has that is never evicted. */
function sizeOfState({ chats, faults }: Snapshot): number {
  const ofChat = (row: Snapshot['chats'][number]) =>
    sizeOfChat({ ...row, userId: row.user_id, persona: camelCase(row.persona) }) + sizeOfSender(row.takeover?.sender)
  return [...chats.map(ofChat), ...faults.map(({ name, spec }) => sizeOfFault({ ...spec, name }))].reduce(
    (sum, size) => sum + size,
    0,
  )
}

/** Messages that exceed the limit are evicted with the next change. */
function restoreMessageMemory({ chats, messageMemory }: PlatformState): void {
  const messages = [...chats.values()].flatMap(chat => chat.messages.map(message => ({ chat, message })))
  messages.sort((a, b) => a.message.created - b.message.created)
  for (const { chat, message } of messages) messageMemory.add(chat, message)
}

/** Of the replaced keys, only those in the snapshot stay valid. */
function restoreKeys(
  { refreshBots, rateLimit, keyring, platform }: Core,
  { replaced_keys = [], rate_limits }: Snapshot,
): void {
  refreshBots()
  keyring.forgetReplaced()
  keyring.restoreReplaced(replaced_keys.map(camelCase))
  const keys = new Map(keyRoles(platform.knobs).map(({ role, key }) => [role, key]))
  const windows = rate_limits.flatMap(({ key: role, start_ms: start, calls }) => {
    const key = keys.get(role)
    return key === undefined ? [] : [[key, { start, calls }] as const]
  })
  rateLimit.reset(windows)
}

function restoreFaults({ faultRegistry }: Core, { faults, counters }: Snapshot): void {
  const rules = faults.map(({ name, spec, ...progress }) => ({ name, spec, progress }))
  faultRegistry.restore({ made: counters.faults, rules })
}

const capturedDeliveries = ({ deliveries, continuation, counters }: Snapshot) => ({
  jobs: deliveries.map(jobFromRow),
  random: continuation.random,
  triggered: counters.triggered,
})

interface Restoration {
  readonly snapshot: Snapshot
  readonly settings: ReadSettings
  readonly contents: FileContents
}

/** The decoded bytes of uploaded files, by id. */
type FileContents = ReadonlyMap<string, Uint8Array>

/** Throws `InvalidSnapshotError`. */
export async function checkSnapshot(core: Core, raw: unknown): Promise<Restoration> {
  checkVersion(raw)
  const { SnapshotSchema } = await import('./schema.ts')
  const parsed = await inPieces(checkInSteps(SnapshotSchema, raw))
  if (!parsed.success) {
    throw new InvalidSnapshotError(
      describeIssues(parsed.issues, raw, SnapshotSchema, 'The snapshot')
        .slice(0, FEW)
        .map(({ field, message }) => ({ name: field || 'snapshot', message })),
    )
  }
  const snapshot: Snapshot = parsed.data
  const settings = readSettings(core, wantedSettings(core, snapshot), 'data')
  const problems = [
    ...settings.problems.map(below('config')),
    ...clockProblem(core, snapshot),
    ...memoryProblem(core, snapshot),
    ...danglingReferences(snapshot),
  ]
  if (problems.length > 0) throw new InvalidSnapshotError(problems)
  const contents = await inPieces(decodeFiles(snapshot))
  await checkEngine(settings.knobs['translation.engine']).catch(refuse)
  return { snapshot, settings, contents }
}

function* decodeFiles({ files }: Snapshot): Generator<void, FileContents> {
  const contents = new Map<string, Uint8Array>()
  for (const [at, { id, base64 }] of files.entries()) {
    if (base64 === undefined) continue
    const bytes = yield* decodeBase64(base64)
    if (bytes === null) throw new InvalidSnapshotError([notBase64(`files[${at}].base64`)])
    contents.set(id, bytes)
  }
  return contents
}

const notBase64 = (name: string): SettingProblem => ({ name, message: `${name} must be base64.` })

function refuse(error: unknown): never {
  throw error instanceof InvalidOptionError ? new InvalidSnapshotError(error.problems.map(below('config'))) : error
}

const FEW = 5
const below =
  (where: string) =>
  ({ name, message }: SettingProblem): SettingProblem => ({ name: `${where}.${name}`, message: `${where}: ${message}` })

function checkVersion(raw: unknown): void {
  const { v, handover_sim: by } = isMap(raw) ? raw : {}
  if (v === SNAPSHOT_VERSION) return
  const reads = `handover-sim ${VERSION} reads snapshots of version ${SNAPSHOT_VERSION}`
  const message =
    v === undefined
      ? `The document is not a snapshot: it has no version "v". ${reads}, as GET /_sim/snapshot returns them.`
      : `This snapshot has version ${JSON.stringify(v)}; ${reads}. Restore it with ${
          typeof by === 'string' ? `handover-sim ${by}` : 'the handover-sim'
        } that took it, or take a new snapshot with this version.`
  throw new InvalidSnapshotError([{ name: 'v', message }])
}

/** A restore keeps the base URL, a webhook URL that is set or whose credentials are missing, and masked keys. */
function wantedSettings({ address }: Core, { config }: Snapshot): Record<string, unknown> {
  const hasTarget = address.webhookUrl !== null
  const skipped = (name: string, value: unknown) =>
    name === 'base_url' ||
    (name === 'webhook.url' && (hasTarget || String(value).includes(MASK))) ||
    (name.startsWith('keys.') && value === MASK)
  return Object.fromEntries(Object.entries(config).filter(([name, value]) => !skipped(name, value)))
}

function clockProblem({ clock }: Core, { clock: { mode } }: Snapshot): SettingProblem[] {
  if (mode === clock.mode) return []
  const message = `The snapshot was taken on a ${mode} clock and this one is ${clock.mode}: start it with the clock set to ${mode}.`
  return [{ name: 'clock.mode', message }]
}

function memoryProblem({ platform }: Core, snapshot: Snapshot): SettingProblem[] {
  const message = platform.state.memory.problem(sizeOfState(snapshot))
  return message === null ? [] : [{ name: 'memoryLimit', message }]
}

/** Finds rows that refer to something the snapshot does not contain. */
function danglingReferences(snapshot: Snapshot): SettingProblem[] {
  const { bot, bots, chats, files, deadlines, faults, deliveries, journal } = snapshot
  const botIds = new Set([bot.id, ...bots.map(({ id }) => id)])
  const chatIds = new Set(chats.map(({ id }) => id))
  const fileIds = new Set(files.map(({ id }) => id))
  const problems: SettingProblem[] = []
  const demand = (holds: boolean, name: string, what: string) => {
    if (!holds && problems.length < FEW) problems.push({ name, message: `${name}: ${what}.` })
  }
  chats.forEach((chat, at) => {
    demand(botIds.has(chat.bot_id), `chats[${at}].bot_id`, `bot ${chat.bot_id} is not among the bots`)
    demand((chat.status === 'agent') === (chat.takeover !== null), `chats[${at}].takeover`, 'belongs to status agent')
    const lost = chat.messages.flatMap(({ attachments }) => attachments).find(id => !fileIds.has(id))
    demand(lost === undefined, `chats[${at}].messages`, `file ${lost} is not among the files`)
  })
  demand(chatIds.size === chats.length, 'chats', 'two have the same id')
  demand(new Set(faults.map(({ name }) => name)).size === faults.length, 'faults', 'two have the same name')
  deadlines.forEach(({ chat_id }, at) => {
    demand(chatIds.has(chat_id), `deadlines[${at}].chat_id`, `${chat_id} is not among the chats`)
  })
  deliveries.forEach(({ chat_id }, at) => {
    demand(chatIds.has(chat_id), `deliveries[${at}].chat_id`, `${chat_id} is not among the chats`)
  })
  const entries = journal.entries ?? []
  const isLast = entries.every(({ seq }, at) => seq === journal.next_seq - entries.length + at)
  demand(isLast, 'journal.entries', `must be the last ones before next_seq ${journal.next_seq}, without a gap`)
  return problems
}
