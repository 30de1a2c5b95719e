/** What can stand beside a verb, and how it is told from the verb's own options. */

import type { CallBodies } from '../../contract/wire.ts'
import type { FaultSpec } from '../../faults/schema.ts'
import type { CallName } from '../action.ts'
import type { ExpectInput, ExpectOptions, ExpectStep } from '../format/calls.ts'
import type { Step } from '../format/step.ts'
import type { AGENT_WORDS } from '../format/stimuli.ts'
import type { Matcher, Matching } from './matchers.ts'

export interface StepOptions {
  /** So that `since` and `replay` can name it. */
  readonly id?: string
  /** What it is for; shown in reports. */
  readonly name?: string
  /** The chat it is about, when there are several. */
  readonly chat?: string
  /** A failure does not stop the chat. */
  readonly soft?: boolean
}

const COMMON = ['id', 'name', 'chat', 'soft'] as const

/** The step with what belongs beside its verb; what is left goes to `verb`. Nothing undefined stays. */
export function stepOf<Options extends StepOptions>(
  options: Options,
  verb: (own: Omit<Options, keyof StepOptions>) => Step,
): Step {
  const { id, name, chat, soft, ...own } = options
  const beside = { id, name, chat, soft }
  const given = COMMON.filter(key => beside[key] !== undefined).map(key => [key, beside[key]] as const)
  return { ...verb(withoutGaps(own)), ...Object.fromEntries(given) }
}

/** Without keys that hold nothing. */
const withoutGaps = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Value

type Verb<Name extends keyof Step> = NonNullable<Step[Name]>
type MapOf<Name extends keyof Step> = Exclude<Verb<Name>, string>
type Sending = StepOptions & Pick<MapOf<'press'>, 'ack' | 'async'>

const isEmpty = (value: object) => Object.keys(value).length === 0

/** The user writes. */
export const user = (text: string, options: Sending & Pick<MapOf<'user'>, 'attach'> = {}): Step =>
  stepOf(options, own => ({ user: isEmpty(own) ? text : { ...(text === '' ? {} : { text }), ...own } }))

/** The user presses `handover`, or the button with this label. */
export const press = (button: string, options: Sending = {}): Step =>
  stepOf(options, own => ({ press: isEmpty(own) ? button : { button, ...own } }))

/** The bot says something. */
export const bot = (text: string, options: StepOptions & Pick<MapOf<'bot'>, 'buttons'> = {}): Step =>
  stepOf(options, own => ({ bot: isEmpty(own) ? text : { text, ...own } }))

interface Item {
  readonly text?: string
  readonly request?: boolean
  readonly attachments?: readonly { readonly name?: string; readonly url?: string; readonly type?: string }[]
}
type StepEvaluator = StepOptions & Pick<MapOf<'agent'>, 'times' | 'within' | 'for'>

/** `agent('accept')`, `agent.says('Hi!')`, `agent.sees('Hello')`, `agent.does('transfer', { team: 'billing' })`. */
export const agent = Object.assign(
  (word: (typeof AGENT_WORDS)[number], options: StepOptions = {}): Step => stepOf(options, () => ({ agent: word })),
  {
    says: (text: string, options: StepOptions = {}): Step => stepOf(options, () => ({ agent: { says: text } })),
    sees: (item: string | Matcher | Matching<Item>, options: StepEvaluator = {}): Step =>
      stepOf(options, own => ({ agent: { sees: item, ...own } })),
    does: (verb: string, given?: Readonly<Record<string, unknown>>, options: StepOptions = {}): Step =>
      stepOf(options, () => ({ agent: given === undefined ? { does: verb } : { does: verb, with: { ...given } } })),
  },
)

/** Moves the scenario's clock; the only sleep. */
export const wait = (duration: string, options: StepOptions = {}): Step => stepOf(options, () => ({ wait: duration }))

/** As if set in the workspace. */
export const availability = (
  value: 'OPEN' | 'CLOSED',
  options: StepOptions & Pick<MapOf<'availability'>, 'reason'> = {},
): Step => stepOf(options, own => ({ availability: isEmpty(own) ? value : { availability: value, ...own } }))

/** Something goes wrong on purpose; `fault.clear()` ends it, or the one named. */
export const fault = Object.assign(
  (spec: FaultSpec, options: Omit<StepOptions, 'name'> = {}): Step => stepOf(options, () => ({ fault: spec })),
  { clear: (name?: string): Step => ({ fault: name === undefined ? 'clear' : { clear: name } }) },
)

type Delivery = Sending & Pick<MapOf<'deliver'>, 'sign'>

/** An event sent by hand; `deliver.again('s1')` sends the bytes of step `s1` once more. */
export const deliver = Object.assign(
  (event: string, options: Delivery & Pick<MapOf<'deliver'>, 'body'> = {}): Step =>
    stepOf(options, own => ({ deliver: { event, ...own } })),
  {
    again: (step: string, options: Delivery = {}): Step =>
      stepOf(options, own => ({ deliver: { replay: step, ...own } })),
  },
)

/** The intermediary as a process, by the driver's `target`. */
export const target = (does: 'restart' | 'start' | 'stop' | 'kill', options: StepOptions = {}): Step =>
  stepOf(options, () => ({ target: does }))

/** A line in the log. */
export const log = (text: string, options: StepOptions = {}): Step => stepOf(options, () => ({ log: text }))

/** `$(i)` is 1, 2, 3 ... */
export const repeat = (times: number, steps: Step[], options: StepOptions = {}): Step =>
  stepOf(options, () => ({ repeat: { times, steps } }))

/** `parallel(20, steps)`: of 20 new users, `$(user)` is 1, 2, 3 ...; `parallel([...], [...])`: lists of steps. */
export function parallel(users: number, steps: Step[]): Step
export function parallel(...branches: [Step[], ...Step[][]]): Step
export function parallel(first: number | Step[], ...rest: Step[][]): Step {
  return { parallel: typeof first === 'number' ? { users: first, steps: rest[0] ?? [] } : [first, ...rest] }
}

/** The steps of another file (`kind: partial`). */
export const include = (file: string, given?: Readonly<Record<string, unknown>>, options: StepOptions = {}): Step =>
  stepOf(options, () => ({ include: given === undefined ? file : { file, with: { ...given } } }))

/** The body of a call, as it may be asked for. */
export type BodyOf<Call extends CallName> =
  Call extends Exclude<keyof CallBodies, 'chat'> ? Matching<CallBodies[Call]> : Readonly<Record<string, unknown>>

export type CallStep = Step & { readonly expect: ExpectStep }
type Within = { readonly within?: string }
export type CallOptions = StepOptions & { readonly [Key in keyof ExpectOptions]?: NonNullable<ExpectOptions[Key]> }

/** A call that has to come: `expectCall('start', { sender: { name: $.type('string') } }, { capture: { who: 'body.sender.name' } })`. */
export function expectCall<Call extends CallName>(
  call: Call,
  body?: BodyOf<Call>,
  options: CallOptions & Within = {},
): CallStep {
  return stepOf(options, own => {
    const plain = body === undefined && Object.keys(own).length === 0
    return { expect: plain ? call : ({ [call]: body ?? {}, ...own } as ExpectStep) }
  }) as CallStep
}

type GroupOptions = StepOptions & Within
type Group = (...given: readonly [CallStep, ...(CallStep | GroupOptions)[]]) => CallStep

const isStep = (one: CallStep | GroupOptions): one is CallStep => 'expect' in one

const group =
  (name: 'all' | 'seq' | 'oneOf'): Group =>
  (...given) => {
    const calls = given.filter(isStep).map(step => step.expect as ExpectInput)
    const options = given.filter((one): one is GroupOptions => !isStep(one))
    return stepOf(Object.assign({}, ...options) as GroupOptions, own => ({
      expect: { [name]: calls, ...own },
    })) as CallStep
  }

/** All of these, in any order; options last. */
export const all = group('all')
/** All of these, in this order. */
export const seq = group('seq')
/** One of these. */
export const oneOf = group('oneOf')

/** A call that must not come: `none('start', {}, { for: '500ms' })`. */
export const none = <Call extends CallName>(
  call: Call,
  body: BodyOf<Call>,
  options: StepOptions & { readonly for: string },
): Step => stepOf(options, own => ({ none: { [call]: body, ...own } as NonNullable<Step['none']> }))

/** The chat as it should be. */
export const check = (wanted: NonNullable<Step['check']>, options: StepOptions = {}): Step =>
  stepOf(options, () => ({ check: wanted }))
