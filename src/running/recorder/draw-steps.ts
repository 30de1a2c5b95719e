/** Draws the steps of a scenario from the entries of a recording, in their order. */
import { isSuccess } from '../../base/http-status.ts'
import { groupBy, isMap, jsonOr, withoutUndefined } from '../../base/objects.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import { type ChatStatus, statusAfter } from '../../evaluation/history.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { ExpectInput } from '../../evaluation/scenario/format/checks.ts'
import type { Step } from '../../evaluation/scenario/format/step.ts'
import { isWebhookEvent, SIGN_MODES } from '../../platform/contract/event-names.ts'
import { WEBHOOK_EVENTS } from '../../platform/contract/events.ts'
import { AvailabilityReason } from '../../platform/contract/schemas.ts'
import { Fault } from '../../platform/faults/schema.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { tamperedBody } from '../../platform/webhooks/faulty-request.ts'
import type { RecordingNote } from '../../server/control/recorder.ts'
import { type AgentActs, driverStep, guessAgentActs, isDriverAct } from './agent-acts.ts'
import {
  beganMs,
  describeCall,
  expectedBody,
  hasFailed,
  isExpectable,
  isSameCall,
  type RecordedCall,
  senderName,
} from './recorded-calls.ts'
import type { RecordedChat, Recording } from './recording.ts'

/** A step of the scenario. Its position in the list is its number. */
export interface DrawnStep {
  readonly step: Step
  /** Lines before it. */
  readonly comments: readonly string[]
  /** The calls that an `expect` expects; empty for other steps. */
  readonly calls: readonly RecordedCall[]
}

export interface DrawnSteps {
  readonly steps: readonly DrawnStep[]
  /** Comments after the last step. */
  readonly comments: readonly string[]
  readonly notes: readonly RecordingNote[]
}

export function drawSteps(recording: Recording): DrawnSteps {
  // Acts of an agent driver are journaled when they end; calls that they caused came before.
  const begins = new Map<Entry, number>()
  for (const entry of recording.entries)
    if (isDriverAct(entry)) begins.set(entry, entry.at_ms - Number(entry.duration_ms ?? 0))
  const entries = [...recording.entries].sort(
    (a, b) => (begins.get(a) ?? a.at_ms) - (begins.get(b) ?? b.at_ms) || Number(begins.has(a)) - Number(begins.has(b)),
  )
  const drawer = new StepDrawer(recording, entries)
  for (const entry of entries) drawer.draw(entry)
  return drawer.finish()
}

interface ExpectedCall {
  readonly calls: RecordedCall[]
  readonly body: object | null
  /** How long the last call took to come; 0 when an agent made it, who takes the time that a person takes. */
  waitedMs: number
  readonly since: string | undefined
}

interface OpenStep {
  step: Step
  readonly atMs: number
  /** Null for a step of no chat. */
  readonly chat: string | null
  readonly comments: readonly string[]
  readonly expected: ExpectedCall[]
}

/** Where a step comes from. */
type Source = Pick<Entry, 'at_ms' | 'chat_id'>

const STIMULI = ['user', 'press', 'agent', 'availability', 'deliver', 'wait'] as const
/** Notes that become a step. */
const DRAWN_NOTES = ['availability', 'fault_set', 'fault_cleared', 'event_triggered', 'clock_advanced']
/** An expectation waits this long by itself. */
const DEFAULT_WITHIN_MS = 5_000

class StepDrawer {
  readonly #recording: Recording
  readonly #steps: OpenStep[] = []
  readonly #notes: RecordingNote[] = []
  /** Comments before the next step. */
  #comments = new Set<string>()
  readonly #acts: ReadonlyMap<string | undefined, AgentActs>
  /** By chat: the name of the agent who has it, and its status. */
  readonly #agents = new Map<string | undefined, string | null>()
  readonly #status = new Map<string, ChatStatus>()
  /** The chats of the faults that were set, by name. */
  readonly #faults = new Map<string, string | undefined>()
  /** The events that entries caused: delivery ids by seq; and the attempts of each. */
  readonly #deliveryIds = new Map<number, string>()
  readonly #deliveries: ReadonlyMap<string, readonly EntryOf<'delivery'>[]>
  /** The current turn: the position of its first stimulus, and whether it has a check, so that the next stimulus begins another. */
  #turnBegin = -1
  #isTurnChecked = true
  /** By chat; the last of all for null. */
  readonly #lastStimulus = new Map<string | null, { readonly step: OpenStep; readonly index: number }>()
  #ids = 0
  /** The time on a virtual clock at the last step. */
  #clockMs: number | null = null
  #hasActed = false

  /** `entries`: of the recording, in the order of their acts. */
  constructor(recording: Recording, entries: readonly Entry[]) {
    this.#recording = recording
    const byChat = groupBy(entries, ({ chat_id }) => chat_id)
    this.#acts = new Map([...byChat].map(([id, chatEntries]) => [id, guessAgentActs(chatEntries)]))
    const deliveries = recording.entries.filter(entry => entry.kind === 'delivery')
    this.#deliveries = groupBy(deliveries, ({ delivery_id }) => delivery_id)
    for (const entry of recording.entries)
      if (entry.kind === 'event') this.#deliveryIds.set(entry.cause ?? 0, entry.delivery_id)
  }

  draw(entry: Entry): void {
    const isDrawnNote = entry.kind === 'note' && DRAWN_NOTES.includes(entry.note)
    if (isDrawnNote || entry.kind === 'user' || entry.kind === 'api' || isDriverAct(entry)) this.#drawWait(entry)
    if (entry.kind === 'user') this.#drawUser(entry)
    else if (entry.kind === 'api') this.#drawCall(entry)
    else if (entry.kind === 'note') this.#drawNote(entry)
    else if (entry.kind === 'delivery' && entry.resent === true && entry.duplicate !== true)
      this.#comment('resend_left_out', entry, 'An event was sent again here; a recording has no step for it.')
    else if (isDriverAct(entry)) {
      if (entry.outcome === 'ok') this.#add({ agent: driverStep(entry) }, entry)
      else this.#comment('agent_failed', entry, `The agent driver failed to do ${entry.verb}, so this act has no step.`)
    }
    this.#follow(entry)
    if (entry.kind === 'user' || entry.kind === 'api') this.#hasActed = true
  }

  #follow(entry: Entry): void {
    if (entry.chat_id === undefined) return
    const before = this.#status.get(entry.chat_id) ?? 'unknown'
    const status = statusAfter(before, entry)
    // A new chat needs no check.
    if (status !== before && status !== 'bot') this.#status.set(entry.chat_id, status)
  }

  /** Adds the status of each chat, and that no call comes where there was none. */
  finish(): DrawnSteps {
    const { entries, chats } = this.#recording
    for (const [id, status] of this.#status) {
      const shown = status === 'pending' || status === 'agent' ? status : 'bot'
      this.#add({ check: { status: shown } }, { at_ms: 0, chat_id: id })
    }
    if (!entries.some(entry => entry.kind === 'api' && isExpectable(entry))) {
      this.#note('nothing_expected', 'The intermediary made no call, so none is expected.')
      for (const id of chats.keys()) this.#add({ none: { any: {}, for: '500ms' } }, { at_ms: 0, chat_id: id })
    }
    const steps = this.#steps.map(({ step, chat, comments, expected }) => ({
      step: {
        ...(expected.length > 0 && { expect: expectOf(expected) }),
        ...step,
        ...(chats.size > 1 && chat !== null && { chat }),
      },
      comments,
      calls: expected.flatMap(({ calls }) => calls),
    }))
    return { steps, comments: [...this.#comments], notes: this.#notes }
  }

  /** On a virtual clock, time passes only when it is advanced. */
  #drawWait(entry: Entry): void {
    if (this.#recording.clock === 'real') return
    const nowMs = Math.floor(Date.parse(entry.time))
    const passedMs = nowMs - (this.#clockMs ?? nowMs)
    this.#clockMs = nowMs
    if (passedMs > 0) this.#add({ wait: formatDuration(passedMs) }, { at_ms: entry.at_ms, chat_id: undefined })
  }

  #drawUser(entry: EntryOf<'user'>): void {
    const ack = this.#ackOf(this.#deliveryIds.get(entry.seq), entry)
    if (entry.action === 'press') {
      const { entries } = this.#recording
      const opensLink = entries.some(
        note => note.kind === 'note' && note.note === 'link_opened' && note.cause === entry.seq,
      )
      const button = opensLink ? escapePlaceholders(entry.button ?? 'handover') : 'handover'
      return this.#add({ press: ack === undefined ? button : { button, ack } }, entry)
    }
    if (entry.action !== 'message') return this.#add({ user: { does: entry.action } }, entry)
    const text = escapePlaceholders(entry.text ?? '')
    const files = entry.attachments ?? []
    if (files.length === 0 && ack === undefined) return this.#add({ user: text }, entry)
    const attach = files.map(({ name, type, size_kb }) => escapePlaceholders({ name, type, size_kb }))
    const user = withoutUndefined({ text: text || undefined, attach: files.length > 0 ? attach : undefined, ack })
    this.#add({ user }, entry)
  }

  #drawCall(call: EntryOf<'api'>): void {
    if (!isExpectable(call))
      return this.#comment('call_refused', call, `${describeCall(call)}: refused, so no step expects it.`)
    const acts = this.#acts.get(call.chat_id)
    const agent = acts?.before.get(call.seq)
    if (agent !== undefined) {
      // The steps of an agent driver are known; these are a guess.
      this.#note(
        'agent_steps',
        'Steps of the agent are drawn from the calls of the intermediary: a message while an agent has the chat is one that the agent wrote. Correct them where your intermediary made a call by itself.',
      )
      this.#add({ agent }, call)
    }
    if (acts?.byItself.has(call.seq))
      this.#comment(
        'call_by_itself',
        call,
        `No agent had the chat: the intermediary called ${call.endpoint} by itself, or an agent did something that has no step.`,
      )
    const body = expectedBody(call, this.#agents.get(call.chat_id) ?? null)
    this.#expect(call, body, acts?.joined.has(call.seq) ?? false)
    if (call.endpoint === 'start')
      this.#agents.set(call.chat_id, senderName(isMap(call.request.body) ? call.request.body.sender : null))
  }

  #drawNote(note: EntryOf<'note'>): void {
    const { fault } = note
    if (note.note === 'availability' && note.by !== 'api') {
      const availability = note.availability === 'CLOSED' ? 'CLOSED' : 'OPEN'
      const { success, data: reason } = AvailabilityReason.safeParse(note.reason)
      this.#add(
        { availability: success ? { availability, reason } : availability },
        { at_ms: note.at_ms, chat_id: undefined },
      )
    } else if (note.note === 'fault_set') this.#drawFault(note)
    else if (note.note === 'fault_cleared' && this.#faults.has(String(fault))) {
      this.#add({ fault: { clear: String(fault) } }, { ...note, chat_id: this.#faults.get(String(fault)) })
      this.#faults.delete(String(fault))
    } else if (note.note === 'event_triggered') {
      // Trials of a diagnosis are no part of what happened.
      if (note.probe === undefined) this.#drawManual(note)
    }
    // Knobs that were set before anything happened are in the head.
    else if (note.note === 'config' && isMap(note.changed) && this.#hasActed) {
      const names = Object.keys(note.changed).join(', ')
      this.#comment('setting_changed', note, `${names} changed here; a scenario sets its knobs only at the beginning.`)
    }
  }

  /** In a scenario with several chats, a fault is for one of them: the first chat to which it applied. */
  #drawFault(note: EntryOf<'note'>): void {
    const { entries, chats } = this.#recording
    const name = String(note.fault)
    const effect = isMap(note.effect) ? note.effect : {}
    const isCleared = entries.some(
      entry => entry.kind === 'note' && entry.note === 'fault_cleared' && entry.fault === name,
    )
    const fields = withoutUndefined({
      name: isCleared || !/^fault-\d+$/.test(name) ? name : undefined,
      on: note.on,
      ...effect,
      respond: note.respond ?? undefined,
      skip: note.skip,
      every: note.every,
      times: typeof note.of === 'number' ? note.of : undefined,
    })
    const parsed = Fault.safeParse(fields)
    const isHolding = effect.hold !== undefined || effect.swap !== undefined
    if (!parsed.success || isHolding)
      return this.#comment('fault_left_out', note, `The fault ${name} was set here; a recording has no step for it.`)
    const hit = entries.find(entry => entry.kind === 'fault' && entry.fault === name && entry.chat_id !== undefined)
    const chatId = note.chat_id ?? hit?.chat_id ?? [...chats.keys()][0]
    this.#add({ fault: escapePlaceholders(parsed.data) }, { ...note, chat_id: chatId })
    this.#faults.set(name, chatId)
  }

  #drawManual(note: EntryOf<'note'>): void {
    const { at_ms, chat_id, delivery_id, event, sign } = note
    const { chats } = this.#recording
    const chatId = chat_id ?? String([...chats.keys()][0])
    const sent = (this.#deliveries.get(String(delivery_id)) ?? []).find(({ resent }) => !resent)
    const body = sent === undefined ? {} : manualFields(sent, chats.get(chatId))
    const signed = SIGN_MODES.find(mode => mode === sign)
    const deliver = withoutUndefined({
      event: escapePlaceholders(String(event)),
      body: Object.keys(body).length === 0 ? undefined : { ...body },
      sign: signed === 'valid' ? undefined : signed,
      ack: this.#ackOf(String(delivery_id), note),
    })
    this.#add({ deliver }, { at_ms, chat_id: chatId })
  }

  /** The answer of the webhook to the last attempt, when it is not the one that a scenario requires by itself. */
  #ackOf(deliveryId: string | undefined, act: Entry): number | undefined {
    const attempts = this.#deliveries.get(deliveryId ?? '') ?? []
    const last = attempts.findLast(({ duplicate, resent }) => !duplicate && !resent)
    if (last === undefined) return undefined
    const { status, outcome, event } = last
    if (status === null) {
      if (outcome !== 'skipped')
        this.#comment('not_reached', act, 'The webhook gave no answer here; the scenario requires 200.')
      return undefined
    }
    const demands200 = isWebhookEvent(event) && WEBHOOK_EVENTS[event].demands200
    if (status === 200 || (!demands200 && isSuccess(status))) return undefined
    this.#comments.add(`the webhook answered ${status}; a correct intermediary answers 200`)
    return status
  }

  #note(code: string, message: string): void {
    if (!this.#notes.some(note => note.code === code)) this.#notes.push({ code, message, seq: null })
  }

  /** A note that is also a comment before the next step. */
  #comment(code: string, { seq }: Pick<Entry, 'seq'>, message: string): void {
    this.#notes.push({ code, message, seq })
    this.#comments.add(message)
  }

  #add(step: Step, { at_ms, chat_id }: Source, expected: ExpectedCall[] = []): void {
    const chat = chat_id === undefined ? null : (this.#recording.chats.get(chat_id)?.name ?? null)
    const added = { step, atMs: at_ms, chat, comments: [...this.#comments], expected }
    this.#comments = new Set()
    const index = this.#steps.push(added) - 1
    if (!STIMULI.some(verb => added.step[verb] !== undefined)) {
      this.#isTurnChecked ||= step.fault === undefined
      return
    }
    if (this.#isTurnChecked) this.#turnBegin = index
    this.#isTurnChecked = false
    for (const key of [chat, null]) this.#lastStimulus.set(key, { step: added, index })
  }

  /** Adds a call to the expectation before it when both belong together. `isJoined`: it belongs to the call before it. */
  #expect(call: RecordedCall, body: object | null, isJoined: boolean): void {
    const chat = this.#recording.chats.get(call.chat_id ?? '')?.name ?? null
    const stimulus = this.#lastStimulus.get(chat)
    const isOfAgent = stimulus === undefined || stimulus.step.step.agent !== undefined
    const waitedMs = isOfAgent ? 0 : call.at_ms - stimulus.step.atMs

    const open = this.#steps.at(-1)
    const last = open?.expected.at(-1)
    const lastCall = last?.calls.at(-1)
    if (open?.chat === chat && last !== undefined && lastCall !== undefined && this.#comments.size === 0) {
      if (hasFailed(lastCall) && isSameCall(lastCall, call)) {
        last.calls.push(call)
        last.waitedMs = waitedMs
        return
      }
      if (isJoined || beganMs(call) < lastCall.at_ms) {
        open.expected.push({ calls: [call], body, waitedMs, since: undefined })
        return
      }
    }
    // Calls count from the first stimulus of a turn; one that an earlier turn of its chat caused needs `since`.
    const isOfEarlierTurn = chat !== null && stimulus !== undefined && stimulus.index < this.#turnBegin
    const since = isOfEarlierTurn ? this.#idOf(stimulus.step) : undefined
    this.#add({}, call, [{ calls: [call], body, waitedMs, since }])
  }

  #idOf(open: OpenStep): string {
    const id = open.step.id ?? `step${++this.#ids}`
    open.step = { ...open.step, id }
    return id
  }
}

function expectOf(expected: readonly ExpectedCall[]): NonNullable<Step['expect']> {
  const waitedMs = Math.max(...expected.map(call => call.waitedMs))
  // Twice the recorded time, in whole seconds, when that is more than an expectation waits by itself.
  const limitMs = Math.ceil((2 * waitedMs) / 1_000) * 1_000
  const within = limitMs > DEFAULT_WITHIN_MS ? { within: formatDuration(limitMs) } : {}
  const inputs = expected.map(({ calls, body, since }): ExpectInput => {
    const name = calls[0]?.endpoint ?? 'any'
    if (body === null && calls.length === 1 && since === undefined) return name
    return { [name]: body ?? {}, ...(calls.length > 1 && { times: calls.length }), ...(since && { since }) }
  })
  const [only] = inputs
  if (inputs.length > 1 || only === undefined) return { all: inputs, ...within }
  if (typeof only !== 'string') return { ...only, ...within }
  return limitMs > DEFAULT_WITHIN_MS ? { [only]: {}, ...within } : only
}

type Fields = Readonly<Record<string, unknown>>

/** The fields that the platform sets itself. */
const FIELDS_OF_PLATFORM: readonly string[] = ['event', 'bot', 'chat', 'user', 'attachments', 'chat_id']

/** The fields of a manual event that differ from those that the platform sets, with variables instead of ids of the chat. */
function manualFields({ event, sign, request }: EntryOf<'delivery'>, chat: RecordedChat | undefined): Fields {
  // Tampering twice gives the body that was asked for.
  let json = escapePlaceholders(sign === 'tampered' ? tamperedBody(request.body) : request.body)
  if (chat !== undefined) json = json.replaceAll(chat.id, '$(chat.id)').replaceAll(chat.userId, '$(chat.user_id)')
  const payload = jsonOr(json, {})
  const fields: Record<string, unknown> = isMap(payload) ? { ...payload } : {}
  delete fields.event
  if (isWebhookEvent(event)) for (const name of FIELDS_OF_PLATFORM) delete fields[name]
  return fields
}
