/** Scenarios as they were read, into plans: one for each combination of a matrix. */
import { ConfigError } from '../../source/errors.ts'
import type { LoadedScenario } from '../format/loaded.ts'
import type { ScenarioFile } from '../format/scenario.ts'
import { type Plan, type PlannedItem, stepsOf } from '../plan.ts'
import { chatsOf } from './chats.ts'
import { type Expansion, expand } from './expand.ts'
import { exclusiveReason, mentionsAvailability, needsOf } from './facts.ts'
import { flow, shorten } from './flow.ts'
import { headerOf } from './header.ts'
import { Complaints, hereAt } from './here.ts'
import { envIn, RESERVED, unknownNames } from './names.ts'
import { Seen } from './seen.ts'
import { escaped, type Known, withNames, withNamesInOrder } from './templates.ts'
import { unwantedOf } from './tree.ts'
import { withTurns } from './turns.ts'

/** Throws `ConfigError` with every problem of every scenario. */
export function compile(loaded: readonly LoadedScenario[]): Plan[] {
  const complaints = new Complaints()
  const plans = loaded.flatMap(one => compileInto(one, complaints))
  if (complaints.problems.length > 0) throw new ConfigError(complaints.problems)
  return plans
}

/** The plans of one scenario; what is wrong with it goes to `complaints`. */
export function compileInto(loaded: LoadedScenario, complaints: Complaints): Plan[] {
  return combinations(loaded.value.matrix ?? {}).map(matrix => compileOne(loaded, matrix, complaints))
}

function combinations(matrix: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown>[] {
  return Object.entries(matrix).reduce<Record<string, unknown>[]>(
    (rows, [name, values]) => rows.flatMap(row => values.map(value => ({ ...row, [name]: value }))),
    [{}],
  )
}

function compileOne(loaded: LoadedScenario, matrix: Record<string, unknown>, complaints: Complaints): Plan {
  const { value: scenario } = loaded
  const known = withNamesInOrder(withNames({ scope: {}, open: {} }, matrix), scenario.vars ?? {})
  checkHeader(loaded, known, complaints)
  const here = hereAt(loaded, [], known, complaints)
  const header = headerOf(here, scenario)
  const chats = chatsOf(scenario)
  const all: Expansion = { loaded, complaints, chats, shared: known.scope, count: 0 }
  const frame = { written: loaded, known, seen: new Seen(), lane: null, within: [] }
  const body = expand(all, { ...frame, path: ['steps'] }, scenario.steps)
  const last = expand(all, { ...frame, path: ['finally'] }, scenario.finally ?? [])
  const placed = withTurns(body, last)
  const never = (scenario.never ?? []).flatMap((pattern, index) => unwantedOf(here, pattern, ['never', index]))
  if (all.count > 0) checkAsserts(loaded, [...body, ...last], never.length, complaints)
  const lanes = chats.all()
  return {
    ...header,
    name: nameOf(header.name, matrix),
    file: loaded.file,
    place: loaded.place,
    lanes,
    vars: Object.fromEntries(Object.keys(scenario.vars ?? {}).map(name => [name, varOf(known, name)])),
    matrix,
    never,
    ...placed,
    count: all.count,
    ...factsOf(scenario, placed, never, header.businessHours, lanes),
  }
}

/** A value, or what gives it in the play. */
const varOf = ({ scope, open }: Known, name: string) => (Object.hasOwn(scope, name) ? escaped(scope[name]) : open[name])

function nameOf(name: string, matrix: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(matrix).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : flow(value)}`,
  )
  return parts.length === 0 ? name : `${name} [${shorten(parts.join(', '), 120)}]`
}

function factsOf(
  scenario: ScenarioFile,
  placed: Pick<Plan, 'steps' | 'finally'>,
  never: Plan['never'],
  hours: unknown,
  lanes: Plan['lanes'],
): Pick<Plan, 'exclusive' | 'needs' | 'env' | 'mentionsAvailability'> {
  const steps = [...stepsOf([...placed.steps, ...placed.finally])]
  const inferred = exclusiveReason(steps, never, hours)
  return {
    exclusive: inferred ?? (scenario.exclusive ? 'it says so' : null),
    needs: needsOf(steps, scenario.requires ?? []),
    env: [...new Set(envIn([steps.map(step => step.action), never, lanes]))],
    mentionsAvailability: mentionsAvailability(steps, never),
  }
}

/** Names in the parts around the steps, and names that may not be given. */
function checkHeader(loaded: LoadedScenario, known: Known, complaints: Complaints): void {
  const here = hereAt(loaded, [], known, complaints)
  const { steps: _, finally: __, vars = {}, matrix = {}, ...around } = loaded.value
  const given = { vars, matrix }
  for (const [group, names] of Object.entries(given)) {
    for (const name of Object.keys(names).filter(name => RESERVED.includes(name))) {
      here.complain([group, name], `is taken: $(${name}) is always there; choose another name`, 'key')
    }
  }
  const names = new Set([...Object.keys(known.scope), ...Object.keys(known.open)])
  for (const { path, message } of unknownNames({ ...around, vars }, names)) here.complain(path, message)
}

const CHECKS: readonly string[] = ['expect', 'none', 'check', 'sees']

/** A scenario that cannot fail says nothing. */
function checkAsserts(
  loaded: LoadedScenario,
  items: readonly PlannedItem[],
  never: number,
  complaints: Complaints,
): void {
  if (never > 0 || [...stepsOf(items)].some(({ action }) => CHECKS.includes(action.verb))) return
  const here = hereAt(loaded, [], { scope: {}, open: {} }, complaints)
  here.complain(['steps'], 'assert nothing: add an expect, none, check, agent: { sees: ... } or never', 'key')
}
