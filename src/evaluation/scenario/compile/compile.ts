/** Compiles scenarios to plans, one for each combination of a matrix. */
import { BUDGETS } from '../../../base/files/budgets.ts'
import { ConfigError } from '../../../base/files/errors.ts'
import type { LoadedScenario, ScenarioFile } from '../format/scenario.ts'
import { OversizedValueError } from '../interpolation.ts'
import { isCheck, type Plan, stepsOf } from '../plan.ts'
import { flow, truncate } from '../value-text.ts'
import { unwantedOf } from './call-patterns.ts'
import { expand, isFull } from './expand-steps.ts'
import { headerOf, requirementsOf } from './header.ts'
import { RESERVED_NAMES, unknownNames } from './names.ts'
import { chatsOf, Definitions } from './references.ts'
import {
  type CompileScope,
  createStepCompiler,
  Diagnostics,
  defineNames,
  defineNamesInOrder,
  EMPTY_SCOPE,
  escapePlaceholders,
  type StepCompiler,
} from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'
import { withTurns } from './turns.ts'

/** Throws `ConfigError` with every problem of every scenario. */
export function compile(loaded: readonly LoadedScenario[]): Plan[] {
  const diagnostics = new Diagnostics()
  const plans = loaded.flatMap(one => compileInto(one, diagnostics))
  if (diagnostics.problems.length > 0) throw new ConfigError(diagnostics.problems)
  return plans
}

/** The plans of one scenario; adds its problems to `diagnostics`. */
export function compileInto(loaded: LoadedScenario, diagnostics: Diagnostics): Plan[] {
  const { matrix = {}, vars = {} } = loaded.value
  const compiler = createStepCompiler({ written: loaded, path: [], scope: EMPTY_SCOPE }, diagnostics)
  const count = Object.values(matrix).reduce((product, values) => product * values.length, 1)
  if (count > BUDGETS.instances) {
    compiler.report(['matrix'], COMPILE_TEXTS.tooManyInstances(count, BUDGETS.instances), 'key')
    return []
  }
  for (const [group, names] of Object.entries({ vars, matrix })) {
    const size = Object.keys(names).length
    if (size <= BUDGETS.names) continue
    compiler.report([group], COMPILE_TEXTS.tooManyNames(size, BUDGETS.names), 'key')
    return []
  }
  return combinations(matrix).flatMap(instance => compileWithin(loaded, instance, diagnostics, compiler))
}

/** Compiles one instance unless the scenarios before it have used up the budget of steps. */
function compileWithin(
  loaded: LoadedScenario,
  matrix: Record<string, unknown>,
  diagnostics: Diagnostics,
  { report }: StepCompiler,
): Plan[] {
  if (diagnostics.steps > BUDGETS.loadedSteps) return []
  try {
    const plan = compileOne(loaded, matrix, diagnostics)
    diagnostics.steps += plan.count
    if (diagnostics.steps > BUDGETS.loadedSteps) report(['name'], COMPILE_TEXTS.tooManyLoaded(BUDGETS.loadedSteps))
    return [plan]
  } catch (error) {
    if (!(error instanceof OversizedValueError)) throw error
    report(['vars'], COMPILE_TEXTS.oversized(BUDGETS.valueSize, BUDGETS.planSize), 'key')
    return []
  }
}

function combinations(matrix: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown>[] {
  return Object.entries(matrix).reduce<Record<string, unknown>[]>(
    (rows, [name, values]) => rows.flatMap(row => values.map(value => ({ ...row, [name]: value }))),
    [{}],
  )
}

function compileOne(loaded: LoadedScenario, matrix: Record<string, unknown>, diagnostics: Diagnostics): Plan {
  const { value: scenario } = loaded
  const scope = defineNamesInOrder(defineNames(EMPTY_SCOPE, matrix), scenario.vars ?? {})
  const compiler = createStepCompiler({ written: loaded, path: [], scope }, diagnostics)
  checkHeader(compiler, scenario)
  const header = headerOf(compiler, scenario)
  const chats = chatsOf(scenario)
  const plan = { loaded, diagnostics, chats, shared: scope.values, count: 0, expansions: 0, size: 0 }
  const list = { plan, written: loaded, scope, definitions: new Definitions(), conversation: null, within: [] }
  const body = expand({ ...list, path: ['steps'] }, scenario.steps)
  const last = expand({ ...list, path: ['finally'] }, scenario.finally ?? [])
  const placed = withTurns(body, last)
  const never = (scenario.never ?? []).flatMap((pattern, index) => unwantedOf(compiler, pattern, ['never', index]))
  const steps = [...stepsOf([...body, ...last])]
  // A scenario without expectations could not fail.
  if (steps.length > 0 && never.length === 0 && !isFull(plan) && !steps.some(isCheck)) {
    compiler.report(['steps'], COMPILE_TEXTS.noAssertion, 'key')
  }
  const conversations = chats.all()
  return {
    ...header,
    name: nameOf(header.title, matrix),
    file: loaded.file,
    place: loaded.place,
    conversations,
    vars: Object.fromEntries(Object.keys(scenario.vars ?? {}).map(name => [name, varOf(scope, name)])),
    matrix,
    never,
    ...placed,
    count: plan.count,
    ...requirementsOf(scenario, placed, never, header.businessHours, conversations),
  }
}

/** A value, or the template of a deferred value. */
const varOf = ({ values, deferred }: CompileScope, name: string) =>
  Object.hasOwn(values, name) ? escapePlaceholders(values[name]) : deferred[name]

const LONGEST_NAME = 120

function nameOf(name: string, matrix: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(matrix).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : flow(value, LONGEST_NAME)}`,
  )
  return parts.length === 0 ? name : `${name} [${truncate(parts.join(', '), LONGEST_NAME)}]`
}

/** Checks the names that the head of the scenario reads and defines. */
function checkHeader(compiler: StepCompiler, scenario: ScenarioFile): void {
  const { values, deferred } = compiler.scope
  const { steps: _, finally: __, vars = {}, matrix = {}, ...around } = scenario
  for (const [group, names] of Object.entries({ vars, matrix })) {
    for (const name of Object.keys(names).filter(name => RESERVED_NAMES.includes(name))) {
      compiler.report([group, name], COMPILE_TEXTS.reserved(name), 'key')
    }
  }
  const names = new Set([...Object.keys(values), ...Object.keys(deferred)])
  for (const { path, message } of unknownNames({ ...around, vars }, names)) compiler.report(path, message)
}
