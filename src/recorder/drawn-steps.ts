/** Collects drawn steps in the order of a scenario: expectations of calls that belong together become one, comments stay with their step. */
import type { ExpectInput } from '../scenario/format/checks.ts'
import type { Step } from '../scenario/format/step.ts'
import { formatDuration } from '../text/quantities.ts'
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
  #comments: string[] = []
  #ids = 0
  /** Whether steps name their chat. */
  readonly #hasSeveral: boolean

  constructor(hasSeveral: boolean) {
    this.#hasSeveral = hasSeveral
  }

  /** A comment before the next step. */
  comment(text: string): void {
    if (!this.#comments.includes(text)) this.#comments.push(text)
  }

  add(step: Step, { seq, chat }: NewStep): void {
    const isStimulus = STIMULI.some(verb => step[verb] !== undefined)
    this.#push({ step, seq, chat, isStimulus, comments: this.#takeComments(), expected: [] })
  }

  /** `isJoined`: it belongs to the call before it. */
  expect(call: RecordedCall, body: ExpectedCall['body'], chat: string | null, isJoined: boolean): void {
    const last = this.#steps.at(-1)
    const calls = last?.expected.at(-1)?.calls.at(-1)
    const isOpen = last !== undefined && last.chat === chat && calls !== undefined && this.#comments.length === 0
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

  /** The id of the last step that was drawn from an entry up to `seq`; null when there is none. */
  idOf(seq: number): string | null {
    const found = this.#steps.find(one => one.seq === seq && one.isStimulus && one.step.agent === undefined)
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
    this.#steps.push(step)
  }

  #takeComments(): string[] {
    const taken = this.#comments
    this.#comments = []
    return taken
  }

  #complete({ step, chat, expected }: OpenStep): Step {
    const named = this.#hasSeveral && chat !== null ? { chat } : {}
    return expected.length === 0 ? { ...step, ...named } : { expect: expectOf(expected), ...step, ...named }
  }

  /** How long the call took to come; 0 when an agent made it, who takes the time that a person takes. */
  #waitedMs(call: RecordedCall, chat: string | null): number {
    const last = this.#steps.findLast(one => one.isStimulus && (chat === null || one.chat === chat))
    return last === undefined || last.step.agent !== undefined ? 0 : call.at_ms - this.#atMs(last)
  }

  #atMs({ seq }: OpenStep): number {
    return this.times.get(seq) ?? Number.POSITIVE_INFINITY
  }

  /** When entries happened: `at_ms` by seq. */
  readonly times = new Map<number, number>()

  /** Calls count from the first stimulus of a turn; one that an earlier turn of its chat caused needs `since`. */
  #withSince(expected: ExpectedCall, chat: string | null): ExpectedCall {
    const turn = this.#turnBegin()
    const cause = this.#steps.findLastIndex(one => one.isStimulus && one.chat === chat)
    const step = this.#steps[cause]
    if (chat === null || step === undefined || cause >= turn) return expected
    return { ...expected, since: this.#giveId(step) }
  }

  /** The position of the first stimulus of the current turn. */
  #turnBegin(): number {
    const isCheck = ({ isStimulus, step }: OpenStep) => !isStimulus && step.fault === undefined
    const stimulus = this.#steps.findLastIndex(one => one.isStimulus)
    const check = this.#steps.slice(0, Math.max(0, stimulus)).findLastIndex(isCheck)
    return this.#steps.findIndex((one, index) => index > check && one.isStimulus)
  }

  #giveId(step: OpenStep): string {
    const id = step.step.id ?? `step${++this.#ids}`
    step.step = { ...step.step, id }
    return id
  }
}

function repeat({ expected }: OpenStep, call: RecordedCall, withinMs: number): void {
  const last = expected.at(-1)
  last?.calls.push(call)
  if (last !== undefined) last.withinMs = withinMs
}

function expectOf(expected: readonly ExpectedCall[]): NonNullable<Step['expect']> {
  const withinMs = Math.max(...expected.map(one => one.withinMs))
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
