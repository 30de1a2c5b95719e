/** Draws the steps of a scenario from the entries of a recording, in their order. */

import { groupBy, isMap } from '../../base/objects.ts'
import { formatDuration } from '../../base/text/quantities.ts'
import { escapePlaceholders } from '../../evaluation/scenario/compile/step-compiler.ts'
import type { Step } from '../../evaluation/scenario/format/step.ts'
import { SIGN_MODES } from '../../platform/contract/event-names.ts'
import { AvailabilityReason } from '../../platform/contract/schemas.ts'
import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import type { RecordingNote } from '../../server/control/recorder.ts'
import { type AgentActs, agentActs, driverStep, isDriverAct } from './agent-acts.ts'
import { fieldsOfManual, type SentEvent, SentEvents, sentAs } from './drawn-events.ts'
import { FaultHits, type FaultStep, faultsOf } from './drawn-faults.ts'
import { type DrawnStep, DrawnStepList, type NewStep } from './drawn-steps.ts'
import { describeCall, expectedBody, isCut, isExpectable, type RecordedCall, senderName } from './recorded-calls.ts'
import type { Recording } from './recording.ts'
import { COMMENTS, NOTE_TEXTS } from './texts.ts'

export interface DrawnSteps {
  readonly steps: readonly DrawnStep[]
  /** Comments after the last step. */
  readonly comments: readonly string[]
  readonly notes: readonly RecordingNote[]
}

export function drawSteps(recording: Recording): DrawnSteps {
  const drawer = new StepDrawer(recording)
  for (const note of recording.faultsBefore) drawer.drawFault(note)
  for (const entry of drawer.entries) drawer.draw(entry)
  drawer.end()
  return { ...drawer.list.finish(), notes: drawer.notes }
}

/** Acts of an agent driver, and events that are sent again, are journaled when they end; calls that they caused came before. */
function inOrder(entries: readonly Entry[]): Entry[] {
  const placed = entries.map(entry => ({ entry, begin: beginOf(entry) }))
  const atOf = ({ entry, begin }: (typeof placed)[number]) => begin ?? entry.at_ms
  // What began at the same time as another entry comes after it.
  const rank = ({ begin }: (typeof placed)[number]) => (begin === null ? 0 : 1)
  return placed.sort((a, b) => atOf(a) - atOf(b) || rank(a) - rank(b)).map(({ entry }) => entry)
}

/** On the clock of `at_ms`; null for an entry that is journaled when it begins. */
function beginOf(entry: Entry): number | null {
  if (!isResend(entry) && !isDriverAct(entry)) return null
  return entry.at_ms - Number(entry.duration_ms ?? 0)
}

const isResend = (entry: Entry): entry is EntryOf<'delivery'> =>
  entry.kind === 'delivery' && entry.resent === true && entry.duplicate !== true

type NoteCode = keyof typeof NOTE_TEXTS
type Note = EntryOf<'note'>

class StepDrawer {
  readonly list: DrawnStepList
  readonly notes: RecordingNote[] = []
  /** In the order in which they began. */
  readonly entries: readonly Entry[]
  readonly #recording: Recording
  readonly #sent: SentEvents
  readonly #acts: ReadonlyMap<string | undefined, AgentActs>
  /** The name of the agent who has the chat. */
  readonly #agents = new Map<string | undefined, string | null>()
  readonly #status = new Map<string, 'bot' | 'pending' | 'agent'>()
  /** The steps of the faults that were set, by name. */
  readonly #faults = new Map<string, readonly FaultStep[]>()
  readonly #faultHits: FaultHits
  /** The seqs of the presses that opened a link. */
  readonly #links: ReadonlySet<number | null | undefined>
  /** The time on a virtual clock at the last step. */
  #clockMs: number | null = null
  #hasGuessedAgent = false
  /** The seq of the first act of a user or the intermediary. */
  readonly #firstActSeq: number

  constructor(recording: Recording) {
    this.#recording = recording
    this.entries = inOrder(recording.entries)
    const times = new Map(recording.entries.map(({ seq, at_ms }) => [seq, at_ms]))
    this.list = new DrawnStepList(recording.chats.size > 1, times)
    this.#faultHits = new FaultHits(recording)
    const isAct = ({ kind }: Entry) => kind === 'user' || kind === 'api'
    this.#firstActSeq = recording.entries.find(isAct)?.seq ?? Number.POSITIVE_INFINITY
    const links = recording.entries.filter(entry => entry.kind === 'note' && entry.note === 'link_opened')
    this.#links = new Set(links.map(({ cause }) => cause))
    this.#sent = new SentEvents(recording.entries)
    const grouped = groupBy(this.entries, ({ chat_id }) => chat_id)
    this.#acts = new Map([...grouped].map(([id, entries]) => [id, agentActs(entries)]))
  }

  draw(entry: Entry): void {
    if (this.#isDrawn(entry)) this.#wait(entry)
    if (entry.kind === 'user') this.#drawUser(entry)
    else if (entry.kind === 'api') this.#drawCall(entry)
    else if (entry.kind === 'note') this.#drawNote(entry)
    else if (isResend(entry)) this.#drawResend(entry)
    else if (isDriverAct(entry)) this.#drawDriver(entry)
    else if (entry.kind === 'event' && entry.event === 'REQUESTING TAKEOVER') this.#request(entry.chat_id)
  }

  /** Expects the status of each chat, and no call where there was none. */
  end(): void {
    const { entries, chats } = this.#recording
    const seq = entries.at(-1)?.seq ?? 0
    for (const fault of new Set(this.#sent.holding())) this.#drawClearing({ fault, seq })
    for (const [id, status] of this.#status) this.list.add({ check: { status } }, this.#at({ seq, chat_id: id }))
    if (entries.some(entry => entry.kind === 'api' && isExpectable(entry))) return
    this.#note('nothing_expected', null, NOTE_TEXTS.nothing_expected)
    for (const id of chats.keys()) this.list.add({ none: { any: {}, for: '500ms' } }, this.#at({ seq, chat_id: id }))
  }

  drawFault(set: Note): void {
    const { steps, note } = faultsOf(this.#recording, set, this.#faultHits)
    const name = String(set.fault)
    if (note !== null) this.#comment(note, set.seq, NOTE_TEXTS[note](name))
    for (const { fault, chatId } of steps) this.list.add({ fault }, this.#at({ seq: set.seq, chat_id: chatId }))
    this.#faults.set(name, steps)
  }

  #drawClearing({ fault, seq }: { readonly fault?: unknown; readonly seq: number }): void {
    for (const set of this.#faults.get(String(fault)) ?? []) {
      const clear = set.fault.name ?? String(fault)
      this.list.add({ fault: { clear } }, this.#at({ seq, chat_id: set.chatId }))
    }
    this.#faults.delete(String(fault))
  }

  #isDrawn(entry: Entry): boolean {
    if (entry.kind === 'note')
      return ['availability', 'fault_set', 'fault_cleared', 'event_triggered', 'clock_advanced'].includes(entry.note)
    return entry.kind === 'user' || entry.kind === 'api' || isResend(entry) || isDriverAct(entry)
  }

  /** On a virtual clock, time passes only when it is advanced. */
  #wait({ time, seq }: Entry): void {
    if (this.#recording.clock === 'real') return
    const now = Math.floor(Date.parse(time))
    const passed = now - (this.#clockMs ?? now)
    this.#clockMs = now
    if (passed > 0) this.list.add({ wait: formatDuration(passed) }, { seq, chat: null })
  }

  #drawUser(entry: EntryOf<'user'>): void {
    const sent = this.#sent.causedBy(entry.seq)
    const how = this.#howSent(sent, entry.seq)
    const step = entry.action === 'press' ? this.#press(entry, how) : userStep(entry, how)
    this.list.add(step, this.#at(entry))
  }

  #press({ seq, button = 'handover' }: EntryOf<'user'>, how: object): Step {
    const pressed = this.#links.has(seq) ? escapePlaceholders(button) : 'handover'
    return { press: Object.keys(how).length === 0 ? pressed : { button: pressed, ...how } }
  }

  #drawCall(call: EntryOf<'api'>): void {
    if (!isExpectable(call)) return this.#comment('call_refused', call.seq, NOTE_TEXTS.call_refused(describeCall(call)))
    const at = this.#at(call)
    const acts = this.#acts.get(call.chat_id)
    const agent = acts?.before.get(call.seq)
    if (agent !== undefined) this.#drawAgent(agent, at)
    if (acts?.byItself.has(call.seq))
      this.#comment('call_by_itself', call.seq, NOTE_TEXTS.call_by_itself(call.endpoint))
    if (isCut(call)) this.#comment('call_too_long', call.seq, NOTE_TEXTS.call_too_long(describeCall(call)))
    const { body, lostButtons } = expectedBody(call, this.#agents.get(call.chat_id) ?? null)
    if (lostButtons) this.#comment('buttons_left_out', call.seq, NOTE_TEXTS.buttons_left_out)
    this.list.expect(call, body, at.chat, acts?.joined.has(call.seq) ?? false)
    this.#enter(call)
  }

  /** The steps of an agent driver are known; these are a guess. */
  #drawAgent(agent: NonNullable<Step['agent']>, at: NewStep): void {
    if (!this.#hasGuessedAgent) this.#note('agent_steps', null, NOTE_TEXTS.agent_steps)
    this.#hasGuessedAgent = true
    this.list.add({ agent }, at)
  }

  #enter({ endpoint, chat_id, request: { body } }: RecordedCall): void {
    if (endpoint === 'start') this.#agents.set(chat_id, senderName(isMap(body) ? body.sender : null))
  }

  #request(chatId: string): void {
    if (this.#status.get(chatId) !== 'agent') this.#status.set(chatId, 'pending')
  }

  #drawNote(note: Note): void {
    const { chat_id: id, seq } = note
    if (note.note === 'taken_over' && id !== undefined) this.#status.set(id, 'agent')
    else if (note.note === 'handed_back' && id !== undefined) this.#status.set(id, 'bot')
    else if (note.note === 'availability' && note.by !== 'api')
      this.list.add(availabilityStep(note), { seq, chat: null })
    else if (note.note === 'fault_set') this.drawFault(note)
    else if (note.note === 'fault_cleared') this.#drawClearing(note)
    else if (note.note === 'event_triggered') this.#drawManual(note)
    else if (note.note === 'config' && isMap(note.changed)) this.#drawConfig(seq, Object.keys(note.changed))
  }

  /** Knobs that were set before anything happened are in the head. */
  #drawConfig(seq: number, names: readonly string[]): void {
    if (seq > this.#firstActSeq) this.#comment('setting_changed', seq, NOTE_TEXTS.setting_changed(names.join(', ')))
  }

  #drawManual({ seq, chat_id: id, delivery_id, event, sign }: Note): void {
    const [first] = this.#sent.attemptsOf(String(delivery_id))
    const chat = this.#recording.chats.get(id ?? '')
    const body = first === undefined ? undefined : fieldsOfManual(first, chat)
    if (this.#sent.isUnusual(String(delivery_id))) this.#comment('sending_left_out', seq, NOTE_TEXTS.sending_left_out)
    const how = this.#howSent(this.#sent.withId(String(delivery_id)), seq)
    const signed = SIGN_MODES.find(mode => mode === sign)
    const fields = {
      event: escapePlaceholders(String(event)),
      ...(body && { body }),
      ...(signed === undefined || signed === 'valid' ? {} : { sign: signed }),
    }
    this.list.add({ deliver: { ...fields, ...how } }, this.#at({ seq, chat_id: id ?? this.#anyChat() }))
  }

  #drawResend(delivery: EntryOf<'delivery'>): void {
    const { seq, chat_id: id } = delivery
    const cause = this.#sent.causeOf(delivery.delivery_id)
    const replay = cause === null ? null : this.list.idOf(cause)
    if (replay === null) return this.#comment('resend_left_out', seq, NOTE_TEXTS.resend_left_out)
    const how = this.#howSent(sentAs(delivery), seq)
    this.list.add({ deliver: { replay, ...how } }, this.#at({ seq, chat_id: id ?? this.#anyChat() }))
  }

  #drawDriver(entry: EntryOf<'driver'>): void {
    if (entry.outcome !== 'ok') this.#comment('agent_failed', entry.seq, NOTE_TEXTS.agent_failed(String(entry.verb)))
    else this.list.add({ agent: driverStep(entry) }, this.#at(entry))
  }

  #howSent({ ack, async, isUnanswered }: SentEvent, seq: number): { ack?: number; async?: true } {
    if (isUnanswered) this.#comment('not_reached', seq, NOTE_TEXTS.not_reached)
    if (ack !== undefined) this.list.comment(COMMENTS.event_refused(ack))
    return { ...(ack === undefined ? {} : { ack }), ...(async ? { async } : {}) }
  }

  #anyChat = (): string => String([...this.#recording.chats.keys()][0])

  #at({ seq, chat_id: id }: { readonly seq: number; readonly chat_id?: string | undefined }): NewStep {
    return { seq, chat: id === undefined ? null : (this.#recording.chats.get(id)?.name ?? null) }
  }

  #note(code: NoteCode, seq: number | null, message: string): void {
    this.notes.push({ code, message, seq })
  }

  #comment(code: NoteCode, seq: number, message: string): void {
    this.#note(code, seq, message)
    this.list.comment(message)
  }
}

function userStep({ text = '', attachments = [] }: EntryOf<'user'>, how: object): Step {
  const escaped = escapePlaceholders(text)
  const attach = attachments.map(({ name, type, size_kb }) => ({
    name: escapePlaceholders(name),
    type: escapePlaceholders(type),
    size_kb,
  }))
  if (attach.length === 0 && Object.keys(how).length === 0) return { user: escaped }
  return { user: { ...(text === '' ? {} : { text: escaped }), ...(attach.length === 0 ? {} : { attach }), ...how } }
}

function availabilityStep({ availability, reason }: Note): Step {
  const value = availability === 'CLOSED' ? 'CLOSED' : 'OPEN'
  const parsed = AvailabilityReason.safeParse(reason)
  return { availability: parsed.success ? { availability: value, reason: parsed.data } : value }
}
