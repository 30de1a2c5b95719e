/** Checks a snapshot and reports its problems; only a valid snapshot is restored. */
import { describeIssues, type FieldProblem } from '../../api/describe-issues.ts'
import { ZOD_MESSAGES } from '../../contract/explain-issues.ts'
import { VERSION } from '../../contract/version.ts'
import { isMap } from '../../files/is-map.ts'
import { MASK } from '../../journal/mask.ts'
import type { Core } from '../core.ts'
import { InvalidOptionError, type SettingProblem } from '../options.ts'
import { checkEngine, type ReadSettings, readSettings } from '../settings.ts'
import { SNAPSHOT_VERSION } from './capture.ts'
import type { Snapshot } from './schema.ts'

/** A snapshot cannot be restored. Nothing was changed. */
export class InvalidSnapshotError extends Error {
  override readonly name = 'InvalidSnapshotError'
  readonly problems: readonly SettingProblem[]
  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(problem => problem.message).join(' '))
    this.problems = problems
  }
}

export interface Restoration {
  readonly snapshot: Snapshot
  readonly settings: ReadSettings
}

/** Throws `InvalidSnapshotError`. */
export async function checkSnapshot(core: Core, raw: unknown): Promise<Restoration> {
  checkVersion(raw)
  const { SnapshotSchema } = await import('./schema.ts')
  const parsed = SnapshotSchema.safeParse(raw, ZOD_MESSAGES)
  if (!parsed.success) {
    throw new InvalidSnapshotError(firstOf(describeIssues(parsed.error.issues, raw, SnapshotSchema, 'The snapshot')))
  }
  const snapshot: Snapshot = parsed.data
  const settings = readSettings(core, wantedSettings(core, snapshot))
  const problems = [
    ...settings.problems.map(below('config')),
    ...clockProblem(core, snapshot),
    ...danglingReferences(snapshot),
  ]
  if (problems.length > 0) throw new InvalidSnapshotError(problems)
  await checkEngine(settings.knobs['translation.engine']).catch(refuse)
  return { snapshot, settings }
}

function refuse(error: unknown): never {
  throw error instanceof InvalidOptionError ? new InvalidSnapshotError(error.problems.map(below('config'))) : error
}

const FEW = 5
const firstOf = (problems: readonly FieldProblem[]): SettingProblem[] =>
  problems.slice(0, FEW).map(({ field, message }) => ({ name: field || 'snapshot', message }))

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

/** A restore keeps the base URL, a webhook URL that is set, and the keys that are masked in the snapshot. */
function wantedSettings({ address }: Core, { config }: Snapshot): Record<string, unknown> {
  const hasTarget = address.webhookUrl !== null
  const skipped = (name: string, value: unknown) =>
    name === 'base_url' || (name === 'webhook.url' && hasTarget) || (name.startsWith('keys.') && value === MASK)
  return Object.fromEntries(Object.entries(config).filter(([name, value]) => !skipped(name, value)))
}

function clockProblem({ clock }: Core, { clock: { mode } }: Snapshot): SettingProblem[] {
  if (mode === clock.mode) return []
  const message = `The snapshot was taken on a ${mode} clock and this one is ${clock.mode}: start it with the clock set to ${mode}.`
  return [{ name: 'clock.mode', message }]
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
