/**
 * Expands written steps to planned steps: inserts includes, unrolls repeats, adds the steps of parallel users, and checks
 * names, ids and chats in the order of the run.
 */
import { dirname, resolve } from 'node:path'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { nearest } from '../../../base/text/error-text.ts'
import { atLeast, FLAG } from '../format/fields.ts'
import { type FileValue, type LoadedScenario, type Path, placeOf } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import { type InterpolationScope, namesIn, OversizedValueError, sizeOfValue } from '../interpolation.ts'
import type { Action, PlannedItem, PlannedStep } from '../plan.ts'
import { actionOf, labelOf } from './actions.ts'
import { namedTexts, RESERVED_NAMES, unknownNames } from './names.ts'
import { type Chats, conversationOfStep, Definitions, isAboutChat } from './references.ts'
import {
  type CompileScope,
  createStepCompiler,
  type Diagnostics,
  defineNames,
  defineNamesInOrder,
  escapePlaceholders,
  interpolateStatic,
  type StepCompiler,
  substituteDeferred,
} from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'

/** State of the whole plan. */
interface PlanState {
  readonly loaded: LoadedScenario
  readonly diagnostics: Diagnostics
  readonly chats: Chats
  /** Vars and matrix, which the plan holds for all steps. */
  readonly shared: InterpolationScope
  /** The number of steps so far. */
  count: number
  /** Steps so far, and what holds or includes steps. */
  expansions: number
  /** Characters and parts of the steps so far. */
  size: number
}

/** A list of steps and its surroundings: file, path, names, conversation. */
interface StepList {
  readonly plan: PlanState
  readonly written: FileValue<unknown>
  readonly path: Path
  readonly scope: CompileScope
  /** The definitions of earlier steps; each branch has its own. */
  readonly definitions: Definitions
  /** The `chat` around the list, or the conversation of a parallel user. */
  readonly conversation: string | null
  /** Files that include this one, outermost first. */
  readonly within: readonly string[]
}

export function expand(list: StepList, steps: readonly Step[]): PlannedItem[] {
  return steps.flatMap((step, index) => {
    if (isFull(list.plan)) return []
    return expandOne({ ...list, path: [...list.path, index] }, step)
  })
}

/** Whether the plan has reached a budget, which is reported where that happens. */
export const isFull = ({ count, expansions }: PlanState): boolean =>
  count > BUDGETS.steps || expansions > BUDGETS.expansions

/** Counts expansions. Returns false, and reports it once, when there are too many. */
function spend({ plan }: StepList, compiler: StepCompiler, amount = 1): boolean {
  if (isFull(plan)) return false
  plan.expansions += amount
  if (plan.expansions <= BUDGETS.expansions) return true
  compiler.report([], COMPILE_TEXTS.tooManyExpansions(BUDGETS.expansions))
  return false
}

function expandOne(list: StepList, written: Step): PlannedItem[] {
  try {
    return expandWithin(list, written)
  } catch (error) {
    if (!(error instanceof OversizedValueError)) throw error
    createStepCompiler(list, list.plan.diagnostics).report(
      [],
      COMPILE_TEXTS.oversized(BUDGETS.valueSize, BUDGETS.planSize),
    )
    return []
  }
}

function expandWithin(list: StepList, written: Step): PlannedItem[] {
  const step = substituteDeferred(written, list.scope.deferred) as Step
  const compiler = createStepCompiler(list, list.plan.diagnostics)
  if (!spend(list, compiler)) return []
  const inner = { ...list, conversation: conversationOfStep(list.plan.chats, compiler, step, list.conversation) }
  if (step.repeat && written.repeat) return expandRepeat(inner, compiler, written.repeat, step.repeat.times)
  if (written.parallel !== undefined) return expandParallel(inner, compiler, written.parallel)
  if (step.include !== undefined) return expandInclude(inner, compiler, step.include)
  return plainStep(inner, compiler, step)
}

function plainStep(list: StepList, compiler: StepCompiler, step: Step): PlannedItem[] {
  const { plan } = list
  if (++plan.count > BUDGETS.steps) {
    compiler.report([], COMPILE_TEXTS.tooManySteps(BUDGETS.steps))
    return []
  }
  checkNames(list, compiler, step)
  const action = actionOf(compiler, step, {
    idOf: (id, path, sending) => list.definitions.idOf(compiler, id, path, sending),
  })
  const conversation = list.conversation ?? plan.chats.names[0] ?? 'main'
  if (step.chat !== undefined || isAboutChat(step)) plan.chats.use(conversation)
  list.definitions.captures(compiler, action)
  const planned: PlannedStep = {
    kind: 'step',
    number: plan.count,
    id: step.id === undefined ? null : list.definitions.define(compiler, step.id, action.verb),
    name: step.name === undefined ? null : compiler.staticText(step.name, ['name']),
    conversation,
    soft: compiler.staticValue(FLAG, step.soft, ['soft'], false),
    place: placeOf(list.written, list.path),
    label: labelOf(filledAction(list, action)),
    scope: scopeFor(list, step),
    turn: [],
    readsInboxOf: [],
    action,
  }
  return [planned]
}

/** The action with everything that is known before the run. */
function filledAction({ plan, scope }: StepList, action: Action): Action {
  const filled = interpolateStatic(action, scope.values) as Action
  plan.size += sizeOfValue(filled)
  if (plan.size > BUDGETS.planSize) throw new OversizedValueError()
  return filled
}

function checkNames({ scope, definitions }: StepList, compiler: StepCompiler, step: Step): void {
  const names = new Set([...Object.keys(scope.values), ...definitions.names()])
  for (const { path, message } of unknownNames(step, names)) compiler.report(path, message)
}

/** Names in addition to vars and matrix; of the named texts only those the step reads, because some are long. */
function scopeFor({ plan, scope: { values } }: StepList, step: Step): PlannedStep['scope'] {
  const own = Object.fromEntries(Object.entries(values).filter(([name, value]) => plan.shared[name] !== value))
  const read = namesIn(step).filter(name => name.startsWith('texts.'))
  const texts = read.length === 0 ? {} : { texts: namedTexts(read.map(name => name.slice('texts.'.length))) }
  return escapePlaceholders({ ...own, ...texts }) as PlannedStep['scope']
}

function expandRepeat(list: StepList, compiler: StepCompiler, repeat: NonNullable<Step['repeat']>, written: unknown) {
  const times = compiler.staticValue(atLeast(1), written, ['repeat', 'times'], 1)
  const path = [...list.path, 'repeat', 'steps']
  const items: PlannedItem[] = []
  for (let i = 1; i <= times && !isFull(list.plan); i++) {
    items.push(...expand({ ...list, path, scope: defineNames(list.scope, { i }) }, repeat.steps))
    if (repeat.steps.length === 0) break
  }
  return items
}

function expandParallel(
  list: StepList,
  compiler: StepCompiler,
  parallel: NonNullable<Step['parallel']>,
): PlannedItem[] {
  const branches = Array.isArray(parallel)
    ? parallel.map((steps, index) => ({ steps, list: branchOf(list, ['parallel', index]) }))
    : usersOf(list, compiler, parallel)
  const played = branches.map(({ list: own, steps }) => expand(own, steps))
  for (const { list: own } of branches) list.definitions.merge(own.definitions)
  return [{ kind: 'parallel', branches: played }]
}

const branchOf = (list: StepList, path: Path): StepList => ({
  ...list,
  path: [...list.path, ...path],
  definitions: new Definitions(list.definitions),
})

function usersOf(list: StepList, compiler: StepCompiler, { users, steps }: { users: unknown; steps: Step[] }) {
  const count = compiler.staticValue(atLeast(1), users, ['parallel', 'users'], 1)
  if (!spend(list, compiler, Math.min(count, BUDGETS.steps))) return []
  return Array.from({ length: Math.min(count, BUDGETS.steps) }, (_, index) => {
    const own = branchOf(list, ['parallel', 'steps'])
    const scope = defineNames(list.scope, { user: index + 1 })
    return { steps, list: { ...own, scope, conversation: list.plan.chats.fresh(index + 1) } }
  })
}

function expandInclude(list: StepList, compiler: StepCompiler, include: NonNullable<Step['include']>): PlannedItem[] {
  const { file, with: given = {} } = typeof include === 'string' ? { file: include } : include
  checkNames(list, compiler, { include })
  const path = resolve(dirname(list.written.path), file)
  const part = list.plan.loaded.parts.get(path)
  if (part === undefined || isCircle(list, compiler, path)) return []
  if (list.within.length >= BUDGETS.includeNesting) {
    compiler.report(['include'], COMPILE_TEXTS.includedTooDeep(BUDGETS.includeNesting))
    return []
  }
  const params = part.value.params ?? {}
  const count = Object.keys(params).length + Object.keys(given).length
  if (count > BUDGETS.names) {
    compiler.report(['include'], COMPILE_TEXTS.tooManyNames(count, BUDGETS.names))
    return []
  }
  checkParams(compiler, part.file, params, given)
  const defaults = Object.fromEntries(Object.entries(params).filter(([name]) => !Object.hasOwn(given, name)))
  const scope = defineNamesInOrder(defineNames(list.scope, given), defaults)
  const within = [...list.within, list.written.path]
  return expand({ ...list, written: part, path: ['steps'], scope, within }, part.value.steps)
}

function isCircle({ written, within }: StepList, compiler: StepCompiler, path: string): boolean {
  if (path !== written.path && !within.includes(path)) return false
  compiler.report(['include'], COMPILE_TEXTS.circle)
  return true
}

function checkParams(
  compiler: StepCompiler,
  file: string,
  params: Readonly<Record<string, unknown>>,
  given: object,
): void {
  const names = Object.keys(params)
  for (const name of names.filter(name => RESERVED_NAMES.includes(name))) {
    compiler.report(['include'], COMPILE_TEXTS.reservedParameter(file, name))
  }
  for (const name of Object.keys(given).filter(name => !names.includes(name))) {
    const hint = nearest(name, names) || (names.length === 0 ? COMPILE_TEXTS.hasNone : COMPILE_TEXTS.has('it', names))
    compiler.report(['include', 'with', name], COMPILE_TEXTS.unknownParameter(file, hint), 'key')
  }
  for (const name of names.filter(name => params[name] === null && !Object.hasOwn(given, name))) {
    compiler.report(['include'], COMPILE_TEXTS.missingParameter(file, name))
  }
}
