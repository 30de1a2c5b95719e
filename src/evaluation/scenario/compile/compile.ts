/** Compiles scenarios to plans, one for each combination of a matrix. */
import { BUDGETS } from '../../../base/files/budgets.ts'
import { ConfigError } from '../../../base/files/errors.ts'
import { isMap } from '../../../base/objects.ts'
import { allowedFor, isKnob, parseKnob } from '../../../platform/contract/knobs.ts'
import { AVAILABILITY_VALUE, atLeast, DURATION, FLAG, LEVEL, SEVERITY } from '../format/fields.ts'
import { ALLOWED_CALLS, type LoadedScenario, type ScenarioFile, TIMEOUTS } from '../format/scenario.ts'
import { namesIn, OversizedValueError } from '../interpolation.ts'
import {
  type Action,
  type CallPattern,
  isCheck,
  isStimulus,
  type Plan,
  type PlannedItem,
  type PlannedStep,
  type ScenarioLevel,
  stepsOf,
} from '../plan.ts'
import { flow, truncate } from '../value-text.ts'
import { callsOf, compileUnwanted } from './call-patterns.ts'
import { Chats, Definitions, expand, isFull, OVERSIZED } from './expand-steps.ts'
import {
  Diagnostics,
  defineNames,
  defineNamesInOrder,
  EMPTY_SCOPE,
  escapePlaceholders,
  interpolateStatic,
  RESERVED_NAMES,
  StepCompiler,
  unknownNames,
} from './step-compiler.ts'

/** Throws `ConfigError` with every problem of every scenario. */
export function compile(loaded: readonly LoadedScenario[]): Plan[] {
  const diagnostics = new Diagnostics()
  const plans = loaded.flatMap(scenario => compileInto(scenario, diagnostics))
  if (diagnostics.problems.length > 0) throw new ConfigError(diagnostics.problems)
  return plans
}

/** The plans of one scenario; adds its problems to `diagnostics`. */
export function compileInto(loaded: LoadedScenario, diagnostics: Diagnostics): Plan[] {
  const { matrix = {}, vars = {} } = loaded.value
  const compiler = new StepCompiler({ written: loaded, path: [], scope: EMPTY_SCOPE }, diagnostics)
  let count = 1
  for (const values of Object.values(matrix)) count *= values.length
  if (count > BUDGETS.instances) {
    compiler.report(['matrix'], `has ${count} combinations; at most ${BUDGETS.instances} are run`, 'key')
    return []
  }
  for (const [group, names] of Object.entries({ vars, matrix })) {
    const size = Object.keys(names).length
    if (size <= BUDGETS.names) continue
    compiler.report([group], `has ${size} names; at most ${BUDGETS.names} can be defined here`, 'key')
    return []
  }

  let instances: Record<string, unknown>[] = [{}]
  for (const [name, values] of Object.entries(matrix))
    instances = instances.flatMap(instance => values.map(value => ({ ...instance, [name]: value })))
  const plans: Plan[] = []
  for (const instance of instances) {
    // The scenarios before this instance may have used up the budget of steps.
    if (diagnostics.steps > BUDGETS.loadedSteps) break
    try {
      const plan = compileInstance(loaded, instance, diagnostics)
      plans.push(plan)
      diagnostics.steps += plan.count
      if (diagnostics.steps > BUDGETS.loadedSteps)
        compiler.report(['name'], `has too many steps: all scenarios together have more than ${BUDGETS.loadedSteps}`)
    } catch (error) {
      if (!(error instanceof OversizedValueError)) throw error
      compiler.report(['vars'], OVERSIZED, 'key')
    }
  }
  return plans
}

const MAX_NAME = 120

function compileInstance(loaded: LoadedScenario, matrix: Record<string, unknown>, diagnostics: Diagnostics): Plan {
  const { value: scenario } = loaded
  const scope = defineNamesInOrder(defineNames(EMPTY_SCOPE, matrix), scenario.vars ?? {})
  const compiler = new StepCompiler({ written: loaded, path: [], scope }, diagnostics)
  checkNames(compiler, scenario)
  const level = compiler.staticValue(LEVEL, scenario.level, ['level'], 'must')
  const header = compileHeader(compiler, scenario, level)
  const chats = new Chats(scenario)
  const state = { loaded, diagnostics, chats, shared: scope.values, count: 0, expansions: 0, size: 0 }
  const list = {
    plan: state,
    written: loaded,
    scope,
    definitions: new Definitions(),
    conversation: null,
    level,
    within: [],
  }
  const body = expand({ ...list, path: ['steps'] }, scenario.steps)
  const last = expand({ ...list, path: ['finally'] }, scenario.finally ?? [])
  const never = (scenario.never ?? []).flatMap((pattern, index) => compileUnwanted(compiler, pattern, ['never', index]))
  const steps = [...stepsOf([...body, ...last])]
  // A scenario without expectations could not fail.
  if (steps.length > 0 && never.length === 0 && !isFull(state) && !steps.some(isCheck))
    compiler.report(['steps'], 'assert nothing: add an expect, none, check, agent: { sees: ... } or never', 'key')
  const values: string[] = []
  for (const [key, value] of Object.entries(matrix))
    values.push(`${key}=${typeof value === 'string' ? value : flow(value, MAX_NAME)}`)
  const vars: Record<string, unknown> = {}
  for (const name of Object.keys(scenario.vars ?? {}))
    vars[name] = Object.hasOwn(scope.values, name) ? escapePlaceholders(scope.values[name]) : scope.deferred[name]
  const conversations = chats.opened()
  return {
    ...header,
    name: values.length === 0 ? header.title : `${header.title} [${truncate(values.join(', '), MAX_NAME)}]`,
    file: loaded.file,
    place: loaded.place,
    conversations,
    vars,
    matrix,
    never,
    ...withTurns(body, last),
    count: state.count,
    ...findRequirements(scenario, steps, never, header.businessHours, conversations),
  }
}

/** Checks the names that the head of the scenario reads and defines. */
function checkNames(compiler: StepCompiler, scenario: ScenarioFile): void {
  const { values, deferred } = compiler.scope
  const { steps: _, finally: __, vars = {}, matrix = {}, ...around } = scenario
  for (const [group, names] of Object.entries({ vars, matrix }))
    for (const name of Object.keys(names))
      if (RESERVED_NAMES.includes(name))
        compiler.report([group, name], `is taken: $(${name}) is always defined; choose another name`, 'key')
  const names = new Set([...Object.keys(values), ...Object.keys(deferred)])
  for (const { path, message } of unknownNames({ ...around, vars }, names)) compiler.report(path, message)
}

/**
 * Divides steps into turns: a run of stimuli, then a run of checks. A check considers calls since the first stimulus
 * of its turn. Branches begin with the turn before them; a check after them considers calls since the earliest of
 * their last turns.
 */
interface Turn {
  /** Numbers of the steps that opened it; several after a parallel. */
  readonly opened: readonly number[]
  /** Whether it has a check, so that the next stimulus opens a new turn. */
  readonly checked: boolean
}

/** The same items with `turn` and `readsInboxOf`. */
function withTurns(steps: readonly PlannedItem[], last: readonly PlannedItem[]) {
  const body = divide(steps, { opened: [], checked: true })
  const end = divide(last, body.turn)
  // Step number -> conversations whose inbox a later `sees` of its turn reads.
  const reads = new Map<number, Set<string>>()
  for (const { action, turn, conversation } of stepsOf([...body.items, ...end.items]))
    if (action.verb === 'sees')
      for (const number of turn) reads.set(number, (reads.get(number) ?? new Set()).add(conversation))
  return { steps: withReads(body.items, reads), finally: withReads(end.items, reads) }
}

function divide(items: readonly PlannedItem[], before: Turn): { readonly items: PlannedItem[]; readonly turn: Turn } {
  let turn = before
  const divided: PlannedItem[] = []
  for (const item of items) {
    if (item.kind === 'step') {
      if (isCheck(item)) turn = { ...turn, checked: true }
      else if (isStimulus(item) && turn.checked) turn = { opened: [item.number], checked: false }
      divided.push({ ...item, turn: turn.opened })
      continue
    }
    const opened = new Set<number>()
    let checked = true
    const branches: PlannedItem[][] = []
    for (const branch of item.branches) {
      const inner = divide(branch, turn)
      branches.push(inner.items)
      for (const number of inner.turn.opened) opened.add(number)
      checked &&= inner.turn.checked
    }
    turn = { opened: [...opened].sort((a, b) => a - b), checked }
    divided.push({ ...item, branches })
  }
  return { items: divided, turn }
}

function withReads(items: readonly PlannedItem[], reads: ReadonlyMap<number, ReadonlySet<string>>): PlannedItem[] {
  const itemsWithReads: PlannedItem[] = []
  for (const item of items) {
    if (item.kind === 'step') itemsWithReads.push({ ...item, readsInboxOf: [...(reads.get(item.number) ?? [])] })
    else itemsWithReads.push({ ...item, branches: item.branches.map(branch => withReads(branch, reads)) })
  }
  return itemsWithReads
}

function compileHeader(compiler: StepCompiler, scenario: ScenarioFile, level: ScenarioLevel) {
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
      unexpected: compiler.staticValue(
        SEVERITY,
        unexpected,
        ['strict', 'unexpected'],
        level === 'should' ? 'warn' : severity,
      ),
      contract: compiler.staticValue(SEVERITY, contract, ['strict', 'contract'], severity),
      allow,
    },
    config: compileConfig(compiler, scenario.config ?? {}),
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
function compileConfig(compiler: StepCompiler, written: Readonly<Record<string, unknown>>): Record<string, unknown> {
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
function findRequirements(
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
  for (const name of namesIn([
    steps.map(({ action }) => (action.verb === 'fault' ? (action.template ?? []) : action)),
    never,
    conversations,
  ]))
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
