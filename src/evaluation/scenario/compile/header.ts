/** Compiles the head of a scenario with defaults, and infers what the steps of the plan require. */
import { isMap } from '../../../base/objects.ts'
import { allowedFor, isKnob, parseKnob } from '../../../platform/contract/knobs.ts'
import { AVAILABILITY_VALUE, atLeast, DURATION, FLAG, SEVERITY } from '../format/fields.ts'
import { ALLOWED_CALLS, type ScenarioFile, TIMEOUTS } from '../format/scenario.ts'
import { namesIn } from '../interpolation.ts'
import type { Action, CallPattern, Plan, PlannedStep } from '../plan.ts'
import { callsOf } from './call-patterns.ts'
import { interpolateStatic, type StepCompiler } from './step-compiler.ts'

export function headerOf(compiler: StepCompiler, scenario: ScenarioFile) {
  const { clock, business_hours, timeouts = {}, strict, bot = {} } = scenario
  const timeout = (name: keyof typeof TIMEOUTS) =>
    compiler.staticValue(DURATION, timeouts[name], ['timeouts', name], DURATION.parse(TIMEOUTS[name].standard) ?? 0)
  const { unexpected, contract, allow = ALLOWED_CALLS } = typeof strict === 'object' ? strict : {}
  const severity = strict === false ? 'warn' : 'fail'
  const botId = compiler.staticValue(atLeast(1), bot.id, ['bot', 'id'], undefined)
  const fill = (value: unknown) => interpolateStatic(value, compiler.scope.values)
  let planned: Plan['clock'] = null
  if (typeof clock === 'string') planned = { mode: clock }
  else if (clock !== undefined) {
    const { mode, start } = clock
    planned = { mode, ...(typeof start === 'string' && { start }) }
  }
  return {
    title: compiler.staticText(scenario.name, ['name']),
    description: scenario.description ?? null,
    tags: (scenario.tags ?? []).map((tag, index) => compiler.staticText(tag, ['tags', index])),
    spec: (scenario.spec ?? []).map((rule, index) => compiler.staticText(rule, ['spec', index])),
    seed: compiler.staticValue(atLeast(0), scenario.seed, ['seed'], null),
    clock: planned,
    timeouts: {
      ackMs: timeout('ack'),
      expectMs: timeout('expect'),
      settleMs: timeout('settle'),
      scenarioMs: timeout('scenario'),
    },
    strict: {
      unexpected: compiler.staticValue(SEVERITY, unexpected, ['strict', 'unexpected'], severity),
      contract: compiler.staticValue(SEVERITY, contract, ['strict', 'contract'], severity),
      allow,
    },
    config: configOf(compiler, scenario.config ?? {}),
    bot: {
      ...(botId !== undefined && { id: botId }),
      ...(bot.name !== undefined && { name: String(fill(bot.name)) }),
      ...(bot.replies !== undefined && { replies: bot.replies.map(fill) }),
    },
    availability: compiler.staticValue(AVAILABILITY_VALUE, scenario.availability, ['availability'], null),
    businessHours: isMap(business_hours) ? business_hours : null,
    tokens: compiler.staticValue(FLAG, scenario.tokens, ['tokens'], false),
  }
}

/** Knobs by dotted name; a map may hold the rest of their names. */
function configOf(compiler: StepCompiler, written: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const config: Record<string, unknown> = {}
  for (const [key, outer] of Object.entries(written)) {
    const inner = isMap(outer) && !isKnob(key) ? Object.entries(outer) : []
    const knobs: [string[], unknown][] = inner.map(([rest, value]) => [[key, rest], value])
    if (knobs.length === 0) knobs.push([[key], outer])
    for (const [path, value] of knobs) {
      const name = path.join('.')
      const filled = interpolateStatic(value, compiler.scope.values)
      if (Object.hasOwn(config, name)) compiler.report(['config', ...path], `sets ${name} again`, 'key')
      else if (isKnob(name) && parseKnob(name, filled, 'data') === undefined)
        compiler.report(['config', ...path], `must be ${allowedFor(name, 'data')}, got ${JSON.stringify(filled)}`)
      config[name] = filled
    }
  }
  return config
}

/** The parts of a plan that its steps determine. */
export function requirementsOf(
  scenario: ScenarioFile,
  steps: readonly PlannedStep[],
  never: Plan['never'],
  businessHours: unknown,
  conversations: Plan['conversations'],
): Pick<Plan, 'exclusive' | 'needs' | 'env' | 'mentionsAvailability'> {
  const needs = new Set((scenario.requires ?? []).map(name => name.replace(/^agent\./, '')))
  let exclusive: string | null = businessHours === null ? null : 'business hours'
  if (isAvailabilityIn(never)) exclusive = 'never availability'
  let mentionsAvailability = isAvailabilityIn(never)
  for (const { action, number } of steps) {
    if (action.verb === 'agent') needs.add(action.does)
    if (action.verb === 'sees') needs.add('inbox')
    if (action.verb === 'target') needs.add(`target.${action.does}`)
    mentionsAvailability ||= action.verb === 'availability' || checksAvailability(action)
    const reason = exclusiveReason(action)
    if (reason !== null) exclusive ??= `${reason} (step ${number})`
  }
  const env = new Set<string>()
  for (const name of namesIn([steps.map(step => step.action), never, conversations]))
    if (name.startsWith('env.')) env.add(name.slice('env.'.length))
  return {
    exclusive: exclusive ?? (scenario.exclusive ? 'it says so' : null),
    needs: [...needs],
    env: [...env],
    mentionsAvailability,
  }
}

function isAvailabilityIn(patterns: Iterable<CallPattern>): boolean {
  for (const { call } of patterns) if (call === 'availability') return true
  return false
}

/** Whether a step expects or excludes availability calls, or checks the availability. */
function checksAvailability(action: Action): boolean {
  if (action.verb === 'expect') return isAvailabilityIn(callsOf(action.tree))
  if (action.verb === 'none') return isAvailabilityIn(action.calls)
  return action.verb === 'check' && action.check.availability !== undefined
}

/** Availability calls name no chat and a restart ends every chat, so such a scenario runs alone. */
function exclusiveReason(action: Action): string | null {
  if (checksAvailability(action)) return `${action.verb} availability`
  if (action.verb === 'agent' && (action.does === 'away' || action.does === 'back')) return `agent ${action.does}`
  if (action.verb === 'target') return `target ${action.does}`
  if (action.verb !== 'fault' || 'clear' in action.fault) return null
  const { on } = action.fault
  const endpoints: readonly string[] = typeof on === 'object' ? [on.api ?? []].flat() : []
  return endpoints.includes('availability') ? 'fault on availability' : null
}
