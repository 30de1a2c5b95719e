/** Replaces the whole state of a simulator with a snapshot; changes nothing when the snapshot is invalid. */

import type * as z from 'zod/mini'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { isDeeperThan } from '../../../base/nesting.ts'
import { isMap } from '../../../base/objects.ts'
import { nextMacrotask } from '../../../base/runtime/clock.ts'
import { definitionOf, shapeOf } from '../../../base/schemas/definitions.ts'
import { MAX_PROBLEMS, ZOD_MESSAGES } from '../../../base/schemas/explain-issues.ts'
import { keyRoles } from '../../api/access.ts'
import { describeIssues, shortenedArrays } from '../../api/body.ts'
import { VERSION } from '../../contract/version.ts'
import { MASK } from '../../journal/mask.ts'
import { countMessage } from '../../rules/chats.ts'
import type { Message } from '../../rules/state.ts'
import { sizeOfChat, sizeOfFault } from '../../rules/state.ts'
import type { Core } from '../core.ts'
import { InvalidOptionError, type SettingProblem } from '../options.ts'
import { applySettings, checkEngine, type ReadSettings, readSettings } from '../settings.ts'
import { SNAPSHOT_VERSION } from './capture.ts'
import { InvalidSnapshotError } from './invalid-snapshot.ts'
import { type Snapshot, SnapshotSchema } from './schema.ts'

/** A snapshot that was checked, and what its texts stand for. */
interface Restoration {
  readonly snapshot: Snapshot
  readonly settings: ReadSettings
  /** The decoded bytes of uploaded files, by id. */
  readonly contents: ReadonlyMap<string, Uint8Array>
}

/** Throws `InvalidSnapshotError`. Aborts requests and deliveries in flight, as a reset does. */
export async function restoreSnapshot(core: Core, raw: unknown): Promise<void> {
  applySnapshot(core, await checkSnapshot(core, raw))()
}

/** Restores in one synchronous step. The function it returns starts the timers and the deliveries. */
export function applySnapshot(core: Core, { snapshot, settings, contents }: Restoration): () => void {
  const { clock, platform } = core
  const { state } = platform
  const before = new Map(state.chats)
  core.resets.forget()
  core.identity.seed = snapshot.seed
  core.identity.bot = snapshot.bot

  // A real clock shows the time of the machine again, unless that of the snapshot stood still.
  const from = snapshot.clock
  if (clock.mode === 'virtual' && from.mode === 'virtual') clock.set(from.startMs, from.nowMs)
  else {
    clock.rewind()
    if (clock.mode === 'real' && from.mode === 'real' && from.paused) clock.pause(from.nowMs)
  }
  applySettings(core, settings)

  for (const { queues, ...bot } of snapshot.bots)
    state.bots.set(bot.id, { ...bot, queues: new Map(queues.map(({ name, ...queue }) => [name, queue])) })
  for (const { base64: _, ...file } of snapshot.files)
    state.files.set(file.id, { ...file, bytes: contents.get(file.id) ?? null })
  for (const { lastEvent, messages: rows, ...row } of snapshot.chats) {
    const messages = rows.map(
      (message): Message => ({
        ...message,
        seq: 0,
        record: null,
        attachments: message.attachments.flatMap(id => state.files.get(id) ?? []),
      }),
    )
    // The ids of a chat are drawn from its words. The same object stays, so that handles show the restored state.
    const chat = { ...row, words: platform.words(row.id), messages }
    state.chats.set(row.id, Object.assign(before.get(row.id) ?? {}, chat))
    if (lastEvent !== null) core.committer.lastEvent.set(row.id, lastEvent)
  }
  const messages = [...state.chats.values()].flatMap(chat => chat.messages.map(message => ({ chat, message })))
  messages.sort((a, b) => a.message.created - b.message.created)
  for (const { chat, message } of messages) countMessage(state, chat, message)
  state.memory.add(sizeOfState(snapshot))
  for (const { key, atMs, kind, chatId, text = '', buttons = [] } of snapshot.deadlines)
    state.deadlines.set(key, atMs, kind === 'reply' ? { kind, chatId, text, buttons } : { kind, chatId })
  state.chatCounter = snapshot.counters.chats
  state.summaryCounter = snapshot.counters.summaries

  // Of the replaced keys, only those in the snapshot stay valid.
  core.resets.refreshBots()
  core.access.keyring.forgetReplaced()
  core.access.keyring.restoreReplaced(snapshot.replacedKeys ?? [])
  const keys = new Map(keyRoles(platform.knobs).map(({ role, key }) => [role, key]))
  core.access.rateLimit.reset(
    snapshot.rateLimits.flatMap(({ key: role, ...window }) => {
      const key = keys.get(role)
      return key === undefined ? [] : [[key, window] as const]
    }),
  )

  core.faultRegistry.restore({ made: snapshot.counters.faults, rules: snapshot.faults })
  const { stamp, journalStamp, random } = snapshot.continuation
  core.numbering.stamps.reset(stamp)
  core.numbering.journalStamps.reset(journalStamp)
  const { nextSeq, atMs, entries = [] } = snapshot.journal
  const { triggered } = snapshot.counters
  const startDeliveries = core.dispatcher.restore({ events: snapshot.deliveries, random, triggered })
  core.journal.restore({ nextSeq, atMs, entries })
  core.numbering.restorePoint.seq = nextSeq
  return () => {
    core.committer.deadlineTimer.set()
    startDeliveries()
  }
}

/** The memory of what a snapshot has that is never evicted. */
function sizeOfState({ chats, faults }: Snapshot): number {
  let size = 0
  for (const chat of chats) size += sizeOfChat(chat)
  for (const { name, spec } of faults) size += sizeOfFault({ ...spec, name })
  return size
}

const FEW = 5

/** Elements of a list that are checked before other work of the process continues. */
const SLICE = 100

/** More keys than any object of a snapshot has whose keys are known. */
const MAX_KEYS = 100

/** Checks the lists of a snapshot slice by slice, so that others are answered meanwhile. Throws `InvalidSnapshotError`. */
async function parseInSlices(raw: unknown): Promise<Snapshot> {
  const journal = isMap(raw) ? raw.journal : null
  const lists = await parseLists(SnapshotSchema, raw, [])
  const listsOfJournal = await parseLists(shapeOf(SnapshotSchema).journal!, journal, ['journal'])
  const head = { ...withoutLists(raw), ...(isMap(journal) && { journal: withoutLists(journal) }) }
  const snapshot = parsePart(SnapshotSchema, head, raw)
  Object.assign(snapshot.journal, listsOfJournal)
  return Object.assign(snapshot, lists)

  async function parseLists(schema: z.ZodMiniType, from: unknown, at: Path): Promise<object> {
    const parsed: Record<string, unknown[]> = {}
    for (const [name, list] of Object.entries(shapeOf(schema))) {
      const items: unknown = isMap(from) ? from[name] : null
      if (!Array.isArray(items)) continue
      const parsedItems: unknown[] = []
      for (let first = 0; first < items.length; first += SLICE) {
        const slice = items.slice(first, first + SLICE)
        if (slice.some(hasLongList)) {
          for (const [index, item] of slice.entries())
            parsedItems.push(await parseElement(list, item, [...at, name], first + index))
          continue
        }
        for (const beginning of shortenedArrays(slice)) parsePart(list, beginning, raw, [...at, name], first)
        for (const item of parsePart(list, slice, raw, [...at, name], first) as unknown[]) parsedItems.push(item)
        await nextMacrotask()
      }
      parsed[name] = parsedItems
    }
    return parsed
  }

  /** Parses an element that may have a long list itself, such as a chat with its messages. */
  async function parseElement(list: z.ZodMiniType, item: unknown, at: Path, index: number): Promise<unknown> {
    const { element } = definitionOf(list)
    const parse = (value: unknown) => (parsePart(list, [value], raw, at, index) as [object])[0]
    // One of several forms, such as an entry, is parsed as a whole.
    if (element === undefined || definitionOf(element).shape === undefined || !hasLongList(item)) return parse(item)
    const head = parse(withoutLists(item))
    return Object.assign(head, await parseLists(element, item, [...at, index]))
  }
}

type Path = readonly (string | number)[]

const hasLongList = (item: unknown): boolean =>
  isMap(item) && Object.values(item).some(value => Array.isArray(value) && value.length > SLICE)

/** The fields, with empty lists. */
function withoutLists(value: unknown): Record<string, unknown> {
  const fields: Record<string, unknown> = isMap(value) ? value : {}
  const names = Object.keys(fields).slice(0, MAX_KEYS)
  return Object.fromEntries(names.map(name => [name, Array.isArray(fields[name]) ? [] : fields[name]]))
}

/** Parses the whole of a snapshot, or a slice of a list `at` a path, that begins with the element `first`. */
function parsePart<Value>(schema: z.ZodMiniType<Value>, value: unknown, raw: unknown, at: Path = [], first = 0): Value {
  if (isDeeperThan(value, BUDGETS.snapshotNesting)) {
    const message = `The snapshot is nested more than ${BUDGETS.snapshotNesting} levels deep.`
    throw new InvalidSnapshotError([{ name: 'snapshot', message }])
  }
  const parsed = schema.safeParse(value, ZOD_MESSAGES)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.slice(0, MAX_PROBLEMS).map(issue => {
    const [element, ...path] = issue.path
    return at.length === 0 ? issue : { ...issue, path: [...at, first + Number(element ?? 0), ...path] }
  })
  const problems = describeIssues(issues, raw, SnapshotSchema, 'The snapshot')
  throw new InvalidSnapshotError(
    problems.slice(0, FEW).map(({ field, message }) => ({ name: field || 'snapshot', message })),
  )
}

/** Throws `InvalidSnapshotError`. */
export async function checkSnapshot(core: Core, raw: unknown): Promise<Restoration> {
  checkVersion(raw)
  const snapshot = await parseInSlices(raw)

  // A restore keeps the base URL, a webhook URL that is set or whose credentials are missing, and masked keys.
  const isRestored = ([name, value]: readonly [string, unknown]) => {
    if (name === 'base_url' || (name.startsWith('keys.') && value === MASK)) return false
    return name !== 'webhook.url' || (core.address.webhookUrl === null && !String(value).includes(MASK))
  }
  const config = Object.fromEntries(Object.entries(snapshot.config).filter(isRestored))
  const settings = readSettings(core, config, 'data')
  const problems = [...inConfig(settings.problems), ...danglingReferences(snapshot)]
  const { mode } = snapshot.clock
  if (mode !== core.clock.mode) {
    const message = `The snapshot was taken on a ${mode} clock and this one is ${core.clock.mode}: start it with the clock set to ${mode}.`
    problems.push({ name: 'clock.mode', message })
  }
  const tooMuch = core.platform.state.memory.problem(sizeOfState(snapshot))
  if (tooMuch !== null) problems.push({ name: 'memoryLimit', message: tooMuch })
  const contents = new Map<string, Uint8Array>()
  for (const [at, { id, base64 }] of snapshot.files.entries()) {
    const bytes = base64 === null ? null : decodeBase64(base64)
    if (bytes !== null) contents.set(id, bytes)
    else if (base64 !== null)
      problems.push({ name: `files[${at}].base64`, message: `files[${at}].base64 must be base64.` })
  }
  if (problems.length > 0) throw new InvalidSnapshotError(problems)
  await checkEngine(settings.knobs['translation.engine']).catch(error => {
    throw error instanceof InvalidOptionError ? new InvalidSnapshotError(inConfig(error.problems)) : error
  })
  return { snapshot, settings, contents }
}

const inConfig = (problems: readonly SettingProblem[]): SettingProblem[] =>
  problems.map(({ name, message }) => ({ name: `config.${name}`, message: `config: ${message}` }))

/** Null for a text that is not base64 with its padding. */
function decodeBase64(base64: string): Uint8Array | null {
  let text: string
  try {
    text = atob(base64)
  } catch {
    return null
  }
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  // `atob` also takes white space, and text without padding.
  return Math.ceil(bytes.length / 3) * 4 === base64.length ? bytes : null
}

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
    demand(botIds.has(chat.botId), `chats[${at}].botId`, `bot ${chat.botId} is not among the bots`)
    demand((chat.status === 'agent') === (chat.takeover !== null), `chats[${at}].takeover`, 'belongs to status agent')
    const lost = chat.messages.flatMap(({ attachments }) => attachments).find(id => !fileIds.has(id))
    demand(lost === undefined, `chats[${at}].messages`, `file ${lost} is not among the files`)
  })
  demand(chatIds.size === chats.length, 'chats', 'two have the same id')
  demand(new Set(faults.map(({ name }) => name)).size === faults.length, 'faults', 'two have the same name')
  for (const [name, rows] of Object.entries({ deadlines, deliveries }))
    for (const [at, { chatId }] of rows.entries())
      demand(chatIds.has(chatId), `${name}[${at}].chatId`, `${chatId} is not among the chats`)
  const entries = journal.entries ?? []
  const isLast = entries.every(({ seq }, at) => seq === journal.nextSeq - entries.length + at)
  demand(isLast, 'journal.entries', `must be the last ones before nextSeq ${journal.nextSeq}, without a gap`)
  return problems
}
