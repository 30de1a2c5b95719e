/** What is expected of the intermediary; bodies are typed from the endpoint's schema. */
import type { CallBodies } from '../../contract/wire.ts'
import type { CallName } from '../action.ts'
import type { ExpectOptions, ExpectStep, ExpectWritten } from '../format/calls.ts'
import type { Step } from '../format/step.ts'
import type { Matching } from './matchers.ts'
import { type StepOptions, stepOf } from './options.ts'

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
    const calls = given.filter(isStep).map(step => step.expect as ExpectWritten)
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
