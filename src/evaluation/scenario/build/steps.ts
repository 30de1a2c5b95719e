/** Builds the steps of scenarios: one function for each verb, typed by the schemas of the format and the API. */

import { withoutUndefined } from '../../../base/objects.ts'
import type { Duration } from '../../../base/text/quantities.ts'
import type { CallBodies } from '../../../platform/contract/endpoints.ts'
import type { FaultSpec } from '../../../platform/faults/schema.ts'
import type { CallMap, ExpectInput, ExpectOptions, ExpectStep } from '../format/checks.ts'
import type { Placeholder } from '../format/fields.ts'
import type { AGENT_WORDS, Step } from '../format/step.ts'
import type { CallName, ScenarioLevel } from '../plan.ts'
import type { Matcher, Matching } from './matchers.ts'

export interface StepOptions {
  /** An id for `since` and `replay`. */
  readonly id?: string
  /** The purpose of the step, shown in reports. */
  readonly name?: string
  /** The chat it is about, in scenarios with several. */
  readonly chat?: string
  /** Whether the steps of the chat go on after a failure. */
  readonly soft?: boolean
  /** `should`: a failure is a warning. */
  readonly level?: ScenarioLevel
}

/** Separates the options of every step from those of its verb, and leaves out undefined ones. */
function splitOptions<Options extends StepOptions>({ id, name, chat, soft, level, ...own }: Options) {
  return { own: withoutUndefined(own), common: withoutUndefined({ id, name, chat, soft, level }) }
}

type Verb<Name extends keyof Step> = NonNullable<Step[Name]>
type MapOf<Name extends keyof Step> = Exclude<Verb<Name>, string>
type Sending = StepOptions & Pick<MapOf<'press'>, 'ack' | 'async'>

const isEmpty = (value: object) => Object.keys(value).length === 0

/**
 * The end user writes a message, or leaves the chat: closes it, or deletes its log as well.
 *
 * @example
 * user('Where is my order?')
 * user.closes()
 * user('See the file', { attach: [{ name: 'a.pdf', type: 'application/pdf', size_kb: 87 }] })
 */
export const user = Object.assign(
  (text: string, options: Sending & Pick<MapOf<'user'>, 'attach'> = {}): Step => {
    const { own, common } = splitOptions(options)
    return { user: isEmpty(own) ? text : { ...(text !== '' && { text }), ...own }, ...common }
  },
  {
    closes: (options: StepOptions = {}): Step => ({ user: { does: 'close' }, ...withoutUndefined(options) }),
    deletes: (options: StepOptions = {}): Step => ({ user: { does: 'delete' }, ...withoutUndefined(options) }),
  },
)

/**
 * The end user presses `handover`, or the button with this label.
 *
 * @example
 * press('handover')
 */
export const press = (button: string, options: Sending = {}): Step => {
  const { own, common } = splitOptions(options)
  return { press: isEmpty(own) ? button : { button, ...own }, ...common }
}

/**
 * The bot sends a message, with buttons if given.
 *
 * @example
 * bot('How can I help?', { buttons: [{ label: 'Talk to us' }] })
 */
export const bot = (text: string, options: StepOptions & Pick<MapOf<'bot'>, 'buttons'> = {}): Step => {
  const { own, common } = splitOptions(options)
  return { bot: isEmpty(own) ? text : { text, ...own }, ...common }
}

interface Item {
  readonly text?: string
  readonly request?: boolean
  readonly attachments?: readonly { readonly name?: string; readonly url?: string; readonly type?: string }[]
}
type SeesOptions = StepOptions & Pick<MapOf<'agent'>, 'times' | 'within' | 'for'>

/**
 * The human agent acts through the agent driver, or sees an item in the inbox.
 *
 * @example
 * agent('accept')
 * agent.says('Hi!')
 * agent.sees('Hello', { within: '2s' })
 * agent.does('transfer', { team: 'billing' })
 */
export const agent = Object.assign(
  (word: (typeof AGENT_WORDS)[number], options: StepOptions = {}): Step => ({
    agent: word,
    ...withoutUndefined(options),
  }),
  {
    says: (text: string, options: StepOptions = {}): Step => ({
      agent: { says: text },
      ...withoutUndefined(options),
    }),
    sees: (item: string | Matcher | Matching<Item>, options: SeesOptions = {}): Step => {
      const { own, common } = splitOptions(options)
      return { agent: { sees: item, ...own }, ...common }
    },
    does: (verb: string, given?: Readonly<Record<string, unknown>>, options: StepOptions = {}): Step => ({
      agent: given === undefined ? { does: verb } : { does: verb, with: { ...given } },
      ...withoutUndefined(options),
    }),
  },
)

/**
 * Waits on the clock of the simulator: a virtual clock moves at once. `duration` is a text such as `500ms`.
 *
 * @example
 * wait('10m')
 */
export const wait = (duration: Duration | Placeholder, options: StepOptions = {}): Step => ({
  wait: duration,
  ...withoutUndefined(options),
})

/**
 * Waits as a person does: for a time between two that the seed decides, another one in each run of the scenario.
 *
 * @example
 * think('3s..20s')
 */
export const think = (range: `${Duration}..${Duration}` | Placeholder, options: StepOptions = {}): Step => ({
  think: range,
  ...withoutUndefined(options),
})

/**
 * Sets the handover availability, as a person does in the workspace (ST17).
 *
 * @example
 * availability('CLOSED', { reason: 'BUSINESS_HOURS' })
 */
export const availability = (
  value: 'OPEN' | 'CLOSED',
  options: StepOptions & Pick<MapOf<'availability'>, 'reason'> = {},
): Step => {
  const { own, common } = splitOptions(options)
  return { availability: isEmpty(own) ? value : { availability: value, ...own }, ...common }
}

/**
 * Injects a fault. `fault.clear()` clears all faults, or the named one.
 *
 * @example
 * fault({ on: 'api', respond: { status: 503 }, times: 1 })
 * fault.clear()
 */
export const fault = Object.assign(
  (spec: FaultSpec, options: Omit<StepOptions, 'name'> = {}): Step => ({ fault: spec, ...withoutUndefined(options) }),
  { clear: (name?: string): Step => ({ fault: name === undefined ? 'clear' : { clear: name } }) },
)

type Delivery = Sending & Pick<MapOf<'deliver'>, 'sign'>

function deliverStep(map: MapOf<'deliver'>, options: Delivery): Step {
  const { own, common } = splitOptions(options)
  return { deliver: { ...map, ...own }, ...common }
}

/**
 * Sends an event manually. `deliver.again('s1')` sends the bytes of the event of step `s1` once more.
 *
 * @example
 * deliver('MESSAGE FROM USER', { body: { message: 'Hi' }, sign: 'wrong-key' })
 * deliver.again('s1')
 */
export const deliver = Object.assign(
  (event: string, options: Delivery & Pick<MapOf<'deliver'>, 'body'> = {}): Step => deliverStep({ event }, options),
  {
    again: (step: string, options: Delivery = {}): Step => deliverStep({ replay: step }, options),
  },
)

/**
 * Starts, stops or restarts the intermediary as a process, which the `target` of the agent driver describes.
 *
 * @example
 * target('restart')
 */
export const target = (does: 'restart' | 'start' | 'stop' | 'kill', options: StepOptions = {}): Step => ({
  target: does,
  ...withoutUndefined(options),
})

/**
 * Writes a line to the log of the run.
 *
 * @example
 * log('now the handover')
 */
export const log = (text: string, options: StepOptions = {}): Step => ({ log: text, ...withoutUndefined(options) })

/**
 * Repeats steps; `$(i)` in them is 1, 2, 3 ...
 *
 * @example
 * repeat(3, [user('Message $(i)')])
 */
export const repeat = (times: number, steps: Step[], options: StepOptions = {}): Step => ({
  repeat: { times, steps },
  ...withoutUndefined(options),
})

/**
 * Runs steps at the same time: the same steps for a number of new users, where `$(user)` is 1, 2, 3 ..., or several lists
 * of steps.
 *
 * @example
 * parallel(20, [press('handover'), expectCall('start')])
 * parallel([user('Hi')], [agent.says('Hello')])
 */
export function parallel(users: number, steps: Step[]): Step
export function parallel(...branches: [Step[], ...Step[][]]): Step
export function parallel(first: number | Step[], ...rest: Step[][]): Step {
  return { parallel: typeof first === 'number' ? { users: first, steps: rest[0] ?? [] } : [first, ...rest] }
}

/**
 * Includes the steps of another file (`kind: partial`), with values for its parameters.
 *
 * @example
 * include('parts/takeover.yaml', { name: 'Anna' })
 */
export const include = (file: string, given?: Readonly<Record<string, unknown>>, options: StepOptions = {}): Step => ({
  include: given === undefined ? file : { file, with: { ...given } },
  ...withoutUndefined(options),
})

/** The expected body of a call. */
export type BodyOf<Call extends CallName> =
  Call extends Exclude<keyof CallBodies, 'chat'> ? Matching<CallBodies[Call]> : Readonly<Record<string, unknown>>

export type CallStep = Step & { readonly expect: ExpectStep }
type Within = { readonly within?: Duration | Placeholder }
export type CallOptions = StepOptions & { readonly [Key in keyof ExpectOptions]?: NonNullable<ExpectOptions[Key]> }

/**
 * Expects a call of the intermediary. `capture` stores values of the call in variables.
 *
 * @example
 * expectCall('start', { sender: { name: $.type('string') } }, { capture: { who: 'body.sender.name' } })
 */
export function expectCall<Call extends CallName>(
  call: Call,
  body?: BodyOf<Call>,
  options: CallOptions & Within = {},
): CallStep {
  const { own, common } = splitOptions(options)
  const isPlain = body === undefined && isEmpty(own)
  return { expect: isPlain ? call : { ...callMap(call, body ?? {}), ...own }, ...common }
}

const callMap = (call: CallName, body: unknown): CallMap => ({ [call]: body })

type GroupOptions = StepOptions & Within
type Group = (...given: readonly [CallStep, ...(CallStep | GroupOptions)[]]) => CallStep

const isStep = (argument: CallStep | GroupOptions): argument is CallStep => 'expect' in argument

const group =
  (name: 'all' | 'seq' | 'oneOf'): Group =>
  (...given) => {
    const calls: ExpectInput[] = given.filter(isStep).map(step => step.expect)
    const options: GroupOptions = Object.assign({}, ...given.filter(argument => !isStep(argument)))
    const { own, common } = splitOptions(options)
    return { expect: { [name]: calls, ...own }, ...common }
  }

/**
 * Expects all of these calls, in any order. Options come last.
 *
 * @example
 * all(expectCall('start'), expectCall('transcript'), { within: '3s' })
 */
export const all = group('all')
/**
 * Expects all of these calls, in this order.
 *
 * @example
 * seq(expectCall('typing_start'), expectCall('message'))
 */
export const seq = group('seq')
/**
 * Expects exactly one of these calls.
 *
 * @example
 * oneOf(expectCall('start'), expectCall('availability', { availability: 'CLOSED' }))
 */
export const oneOf = group('oneOf')

/**
 * Expects that no such call arrives for a duration on the wall clock.
 *
 * @example
 * none('start', {}, { for: '500ms' })
 */
export const none = <Call extends CallName>(
  call: Call,
  body: BodyOf<Call>,
  options: StepOptions & { readonly for: Duration | Placeholder },
): Step => {
  const { own, common } = splitOptions(options)
  return { none: { ...callMap(call, body), ...own }, ...common }
}

/**
 * Checks the state of the chat, as its end user sees it.
 *
 * @example
 * check({ status: 'agent', typing: false })
 */
export const check = (expected: NonNullable<Step['check']>, options: StepOptions = {}): Step => ({
  check: expected,
  ...withoutUndefined(options),
})
