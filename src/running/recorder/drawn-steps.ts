/** Collects drawn steps in the order of a scenario: expectations of calls that belong together become one, comments stay with their step. */

import { formatDuration } from '../../base/text/quantities.ts'
import type { ExpectInput } from '../../evaluation/scenario/format/checks.ts'
import type { Step } from '../../evaluation/scenario/format/step.ts'
import { beganMs, hasFailed, isSameCall, type RecordedCall } from './recorded-calls.ts'

/** A step of the scenario. Its position in the list is its number. */
export interface DrawnStep {
  readonly step: Step
  /** Lines before it. */
  readonly comments: readonly string[]
  /** The calls that an `expect` expects; empty for other steps. */
  readonly calls: readonly RecordedCall[]
}

interface ExpectedCall {
  readonly calls: RecordedCall[]
  readonly body: Readonly<Record<string, unknown>> | null
  withinMs: number
  since?: string
}

interface OpenStep {
  step: Step
  /** The seq of the entry that it is drawn from. */
  readonly seq: number
  readonly chat: string | null
  readonly isStimulus: boolean
  readonly comments: readonly string[]
  readonly expected: ExpectedCall[]
}

export interface NewStep {
  readonly seq: number
  /** Null for a step of no chat. */
  readonly chat: string | null
}

/** An expectation waits this long by itself. */
const USUAL_MS = 5_000
const STIMULI = ['user', 'press', 'agent', 'availability', 'deliver', 'wait'] as const

export class DrawnStepList {
  readonly #steps: OpenStep[] = []
  readonly #turns = new Turns()
  /** Stimuli that no agent makes, by the seq of their entry. */
  readonly #bySeq = new Map<number, OpenStep>()
  readonly #comments = new Set<string>()
  #ids = 0
  /** Whether steps name their chat. */
  readonly #hasSeveral: boolean
  /** When entries happened: `at_ms` by seq. */
  readonly #times: ReadonlyMap<number, number>

  constructor(hasSeveral: boolean, times: ReadonlyMap<number, number>) {
    this.#hasSeveral = hasSeveral
    this.#times = times
  }

  /** A comment before the next step. */
  comment(text: string): void {
    this.#comments.add(text)
  }

  add(step: Step, { seq, chat }: NewStep): void {
    const isStimulus = STIMULI.some(verb => step[verb] !== undefined)
    const added = { step, seq, chat, isStimulus, comments: this.#takeComments(), expected: [] }
    this.#push(added)
    if (isStimulus && step.agent === undefined && !this.#bySeq.has(seq)) this.#bySeq.set(seq, added)
  }

  /** `isJoined`: it belongs to the call before it. */
  expect(call: RecordedCall, body: ExpectedCall['body'], chat: string | null, isJoined: boolean): void {
    const last = this.#steps.at(-1)
    const calls = last?.expected.at(-1)?.calls.at(-1)
    const isOpen = last !== undefined && last.chat === chat && calls !== undefined && this.#comments.size === 0
    const expected = { calls: [call], body, withinMs: this.#waitedMs(call, chat) }
    if (isOpen && hasFailed(calls) && isSameCall(calls, call)) repeat(last, call, expected.withinMs)
    else if (isOpen && (isJoined || beganMs(call) < calls.at_ms)) last.expected.push(expected)
    else
      this.#push({
        step: {},
        seq: call.seq,
        chat,
        isStimulus: false,
        comments: this.#takeComments(),
        expected: [this.#withSince(expected, chat)],
      })
  }

  /** The id of the first step that was drawn from the entry `seq`; null when there is none. */
  idOf(seq: number): string | null {
    const found = this.#bySeq.get(seq)
    return found === undefined ? null : this.#giveId(found)
  }

  /** The steps, and the comments after the last one. */
  finish(): { readonly steps: readonly DrawnStep[]; readonly comments: readonly string[] } {
    const steps = this.#steps.map(one => ({
      step: this.#complete(one),
      comments: one.comments,
      calls: one.expected.flatMap(({ calls }) => calls),
    }))
    return { steps, comments: this.#takeComments() }
  }

  #push(step: OpenStep): void {
    this.#turns.add(step, this.#steps.length)
    this.#steps.push(step)
  }

  #takeComments(): string[] {
    const taken = [...this.#comments]
    this.#comments.clear()
    return taken
  }

  #complete({ step, chat, expected }: OpenStep): Step {
    const named = this.#hasSeveral && chat !== null ? { chat } : {}
    return expected.length === 0 ? { ...step, ...named } : { expect: expectOf(expected), ...step, ...named }
  }

  /** How long the call took to come; 0 when an agent made it, who takes the time that a person takes. */
  #waitedMs(call: RecordedCall, chat: string | null): number {
    const last = this.#turns.lastStimulus(chat)?.step
    return last === undefined || last.step.agent !== undefined ? 0 : call.at_ms - this.#atMs(last)
  }

  #atMs({ seq }: OpenStep): number {
    return this.#times.get(seq) ?? Number.POSITIVE_INFINITY
  }

  /** Calls count from the first stimulus of a turn; one that an earlier turn of its chat caused needs `since`. */
  #withSince(expected: ExpectedCall, chat: string | null): ExpectedCall {
    const cause = chat === null ? undefined : this.#turns.lastStimulus(chat)
    if (cause === undefined || cause.index >= this.#turns.begin) return expected
    return { ...expected, since: this.#giveId(cause.step) }
  }

  #giveId(step: OpenStep): string {
    const id = step.step.id ?? `step${++this.#ids}`
    step.step = { ...step.step, id }
    return id
  }
}

interface Stimulus {
  readonly step: OpenStep
  /** Its position in the list. */
  readonly index: number
}

/** Knows where the current turn begins, and the last stimulus of each chat. */
class Turns {
  /** The position of the first stimulus of the current turn; -1 before the first one. */
  begin = -1
  /** Whether the current turn has a check, so that the next stimulus begins another turn. */
  #isChecked = true
  #last: Stimulus | undefined
  readonly #lastOf = new Map<string | null, Stimulus>()

  add(step: OpenStep, index: number): void {
    if (!step.isStimulus) {
      if (step.step.fault === undefined) this.#isChecked = true
      return
    }
    if (this.#isChecked) this.begin = index
    this.#isChecked = false
    this.#last = { step, index }
    this.#lastOf.set(step.chat, this.#last)
  }

  /** Of any chat for null. */
  lastStimulus(chat: string | null): Stimulus | undefined {
    return chat === null ? this.#last : this.#lastOf.get(chat)
  }
}

function repeat({ expected }: OpenStep, call: RecordedCall, withinMs: number): void {
  const last = expected.at(-1)
  last?.calls.push(call)
  if (last !== undefined) last.withinMs = withinMs
}

function expectOf(expected: readonly ExpectedCall[]): NonNullable<Step['expect']> {
  const withinMs = expected.reduce((most, one) => Math.max(most, one.withinMs), 0)
  // Twice the recorded time, in whole seconds, when that is more than an expectation waits by itself.
  const limitMs = Math.ceil((2 * withinMs) / 1_000) * 1_000
  const within = limitMs > USUAL_MS ? { within: formatDuration(limitMs) } : {}
  const inputs = expected.map(inputOf)
  const [only] = inputs
  if (inputs.length > 1 || only === undefined) return { all: inputs, ...within }
  return typeof only === 'string' && limitMs <= USUAL_MS
    ? only
    : { ...(typeof only === 'string' ? { [only]: {} } : only), ...within }
}

function inputOf({ calls, body, since }: ExpectedCall): ExpectInput {
  const [first] = calls
  const name = first?.endpoint ?? 'any'
  const times = calls.length > 1 ? { times: calls.length } : {}
  const from = since === undefined ? {} : { since }
  if (body === null && calls.length === 1 && since === undefined) return name
  return { [name]: body ?? {}, ...times, ...from }
}
