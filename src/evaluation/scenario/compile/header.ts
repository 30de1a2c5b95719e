/** Compiles the head of a scenario with defaults, and infers what the steps of the plan require. */

import { isMap } from '../../../base/objects.ts'
import { allowedFor, isKnob, parseKnob } from '../../../platform/contract/knobs.ts'
import type { FaultFields } from '../../../platform/faults/schema.ts'
import { AVAILABILITY_VALUE, atLeast, DURATION, FLAG, SEVERITY } from '../format/fields.ts'
import { ALLOWED_CALLS, type ScenarioFile, TIMEOUTS } from '../format/scenario.ts'
import { type Action, type CallPattern, type Plan, type PlannedStep, stepsOf } from '../plan.ts'
import { callsOf } from './call-patterns.ts'
import { envIn } from './names.ts'
import { interpolateStatic, type StepCompiler } from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'

export function headerOf(compiler: StepCompiler, scenario: ScenarioFile) {
  return {
    title: compiler.staticText(scenario.name, ['name']),
    description: scenario.description ?? null,
    tags: (scenario.tags ?? []).map((tag, index) => compiler.staticText(tag, ['tags', index])),
    spec: (scenario.spec ?? []).map((rule, index) => compiler.staticText(rule, ['spec', index])),
    seed: compiler.staticValue(atLeast(0), scenario.seed, ['seed'], null),
    clock: clockOf(scenario.clock),
    timeouts: timeoutsOf(compiler, scenario.timeouts ?? {}),
    strict: strictOf(compiler, scenario.strict),
    config: configOf(compiler, scenario.config ?? {}),
    bot: botOf(compiler, scenario.bot ?? {}),
    availability: compiler.staticValue(AVAILABILITY_VALUE, scenario.availability, ['availability'], null),
    businessHours: isMap(scenario.business_hours) ? scenario.business_hours : null,
    tokens: compiler.staticValue(FLAG, scenario.tokens, ['tokens'], false),
  }
}

function clockOf(clock: ScenarioFile['clock']): Plan['clock'] {
  if (clock === undefined) return null
  if (typeof clock === 'string') return { mode: clock }
  return { mode: clock.mode, ...(typeof clock.start === 'string' ? { start: clock.start } : {}) }
}

function timeoutsOf(compiler: StepCompiler, written: NonNullable<ScenarioFile['timeouts']>): Plan['timeouts'] {
  const read = (name: keyof typeof TIMEOUTS) => {
    const otherwise = DURATION.parse(TIMEOUTS[name].standard) ?? 0
    return compiler.staticValue(DURATION, written[name], ['timeouts', name], otherwise)
  }
  return { ackMs: read('ack'), expectMs: read('expect'), settleMs: read('settle'), scenarioMs: read('scenario') }
}

function strictOf(compiler: StepCompiler, written: ScenarioFile['strict']): Plan['strict'] {
  const { unexpected, contract, allow = ALLOWED_CALLS } = typeof written === 'object' ? written : {}
  const otherwise = written === false ? 'warn' : 'fail'
  return {
    unexpected: compiler.staticValue(SEVERITY, unexpected, ['strict', 'unexpected'], otherwise),
    contract: compiler.staticValue(SEVERITY, contract, ['strict', 'contract'], otherwise),
    allow,
  }
}

/** Knobs by dotted name. */
function configOf(compiler: StepCompiler, written: Readonly<Config>): Config {
  const config: Config = {}
  for (const [key, value] of Object.entries(written)) {
    const inner = isMap(value) && !isKnob(key) ? Object.entries(value) : []
    const named = inner.length > 0 ? inner.map(([rest, one]) => [[key, rest], one] as const) : [[[key], value] as const]
    for (const [path, one] of named) takeKnob(compiler, config, path, one)
  }
  return config
}

type Config = Record<string, unknown>

function takeKnob(compiler: StepCompiler, config: Config, path: readonly string[], written: unknown): void {
  const name = path.join('.')
  const value = interpolateStatic(written, compiler.scope.values)
  const at = ['config', ...path]
  if (Object.hasOwn(config, name)) compiler.report(at, COMPILE_TEXTS.duplicateKnob(name), 'key')
  else if (isKnob(name) && parseKnob(name, value, 'data') === undefined) {
    compiler.report(at, COMPILE_TEXTS.unexpected(allowedFor(name, 'data'), value))
  }
  config[name] = value
}

function botOf(compiler: StepCompiler, { id, name, replies }: NonNullable<ScenarioFile['bot']>): Plan['bot'] {
  const read = compiler.staticValue(atLeast(1), id, ['bot', 'id'], undefined)
  return {
    ...(read === undefined ? {} : { id: read }),
    ...(name === undefined ? {} : { name: String(interpolateStatic(name, compiler.scope.values)) }),
    ...(replies === undefined
      ? {}
      : { replies: replies.map(reply => interpolateStatic(reply, compiler.scope.values)) }),
  }
}

/** The parts of a plan that its steps determine. */
export function requirementsOf(
  scenario: ScenarioFile,
  placed: Pick<Plan, 'steps' | 'finally'>,
  never: Plan['never'],
  hours: unknown,
  conversations: Plan['conversations'],
): Pick<Plan, 'exclusive' | 'needs' | 'env' | 'mentionsAvailability'> {
  const steps = [...stepsOf([...placed.steps, ...placed.finally])]
  return {
    exclusive: exclusiveReason(steps, never, hours) ?? (scenario.exclusive ? 'it says so' : null),
    needs: needsOf(steps, scenario.requires ?? []),
    env: [...new Set(envIn([steps.map(step => step.action), never, conversations]))],
    mentionsAvailability: mentionsAvailability(steps, never),
  }
}

/** Driver verbs that the plan needs. */
function needsOf(steps: readonly PlannedStep[], required: readonly string[]): string[] {
  const inferred = steps.flatMap(({ action }) => needOf(action))
  return [...new Set([...required.map(name => name.replace(/^agent\./, '')), ...inferred])]
}

function needOf(action: Action): string[] {
  if (action.verb === 'agent') return [action.does]
  if (action.verb === 'sees') return ['inbox']
  return action.verb === 'target' ? [`target.${action.does}`] : []
}

const patternsIn = (action: Action): CallPattern[] => {
  if (action.verb === 'expect') return [...callsOf(action.tree)]
  return action.verb === 'none' ? [...action.calls] : []
}

function mentionsAvailability(steps: readonly PlannedStep[], never: readonly CallPattern[]): boolean {
  const inCalls = [...never, ...steps.flatMap(({ action }) => patternsIn(action))]
  return (
    inCalls.some(({ call }) => call === 'availability') ||
    steps.some(
      ({ action }) =>
        action.verb === 'availability' || (action.verb === 'check' && action.check.availability !== undefined),
    )
  )
}

/** Availability calls name no chat and a restart ends every chat, so such a scenario runs alone. */
function exclusiveReason(steps: readonly PlannedStep[], never: readonly CallPattern[], hours: unknown): string | null {
  if (never.some(({ call }) => call === 'availability')) return 'never availability'
  if (hours !== null) return 'business hours'
  for (const { action, number } of steps) {
    const reason = reasonOf(action)
    if (reason !== null) return `${reason} (step ${number})`
  }
  return null
}

function reasonOf(action: Action): string | null {
  if (patternsIn(action).some(({ call }) => call === 'availability')) return `${action.verb} availability`
  if (action.verb === 'check' && action.check.availability !== undefined) return 'check availability'
  if (action.verb === 'agent' && (action.does === 'away' || action.does === 'back')) return `agent ${action.does}`
  if (action.verb === 'target') return `target ${action.does}`
  return action.verb === 'fault' && !('clear' in action.fault) ? faultReason(action.fault) : null
}

function faultReason({ on }: FaultFields): string | null {
  const api = typeof on === 'object' ? on.api : undefined
  const names = api === undefined ? [] : [api].flat()
  return names.includes('availability') ? 'fault on availability' : null
}
