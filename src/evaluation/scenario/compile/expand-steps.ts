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
import { type Chats, Definitions, isAboutChat } from './references.ts'
import {
  type CompileScope,
  type Diagnostics,
  defineNames,
  defineNamesInOrder,
  escapePlaceholders,
  interpolateStatic,
  StepCompiler,
  substituteDeferred,
} from './step-compiler.ts'

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
  const items: PlannedItem[] = []
  for (const [index, step] of steps.entries()) {
    if (isFull(list.plan)) break
    const position = { ...list, path: [...list.path, index] }
    try {
      items.push(...expandStep(position, step))
    } catch (error) {
      if (!(error instanceof OversizedValueError)) throw error
      new StepCompiler(position, list.plan.diagnostics).report([], OVERSIZED)
    }
  }
  return items
}

export const OVERSIZED = `is too large with its $(...) filled in: a value can have ${BUDGETS.valueSize} characters and parts, and all steps together ${BUDGETS.planSize}`

/** Whether the plan has reached a budget, which is reported where that happens. */
export const isFull = ({ count, expansions }: PlanState): boolean =>
  count > BUDGETS.steps || expansions > BUDGETS.expansions

/** Counts expansions. Returns false, and reports it once, when there are too many. */
function spend({ plan }: StepList, compiler: StepCompiler, amount = 1): boolean {
  if (isFull(plan)) return false
  plan.expansions += amount
  if (plan.expansions <= BUDGETS.expansions) return true
  compiler.report(
    [],
    `unrolls to more than ${BUDGETS.expansions} steps and lists of steps; use fewer repeats, users or includes`,
  )
  return false
}

function expandStep(list: StepList, written: Step): PlannedItem[] {
  const step = substituteDeferred(written, list.scope.deferred) as Step
  const compiler = new StepCompiler(list, list.plan.diagnostics)
  if (!spend(list, compiler)) return []
  const inner = { ...list, conversation: list.plan.chats.conversationOfStep(compiler, step, list.conversation) }
  if (step.repeat && written.repeat) {
    const times = compiler.staticValue(atLeast(1), step.repeat.times, ['repeat', 'times'], 1)
    const path = [...inner.path, 'repeat', 'steps']
    const items: PlannedItem[] = []
    for (let i = 1; i <= times && !isFull(inner.plan) && written.repeat.steps.length > 0; i++)
      items.push(...expand({ ...inner, path, scope: defineNames(inner.scope, { i }) }, written.repeat.steps))
    return items
  }
  if (written.parallel !== undefined) return expandParallel(inner, compiler, written.parallel)
  if (step.include !== undefined) return expandInclude(inner, compiler, step.include)
  return planStep(inner, compiler, step)
}

function planStep(list: StepList, compiler: StepCompiler, step: Step): PlannedItem[] {
  const { plan, definitions, scope } = list
  if (++plan.count > BUDGETS.steps) {
    compiler.report(
      [],
      `is one of more than ${BUDGETS.steps} steps, repeats unrolled: that is too many for one scenario`,
    )
    return []
  }
  reportUnknownNames(list, compiler, step)
  const action = actionOf(compiler, step, (id, path, isReplay) => definitions.idOf(compiler, id, path, isReplay))
  const conversation = list.conversation ?? plan.chats.names[0] ?? 'main'
  if (step.chat !== undefined || isAboutChat(step)) plan.chats.use(conversation)
  definitions.defineCaptures(compiler, action)
  // The label shows everything that is known before the run.
  const filled = interpolateStatic(action, scope.values) as Action
  plan.size += sizeOfValue(filled)
  if (plan.size > BUDGETS.planSize) throw new OversizedValueError()
  const planned: PlannedStep = {
    kind: 'step',
    number: plan.count,
    id: step.id === undefined ? null : definitions.define(compiler, step.id, action.verb),
    name: step.name === undefined ? null : compiler.staticText(step.name, ['name']),
    conversation,
    soft: compiler.staticValue(FLAG, step.soft, ['soft'], false),
    place: placeOf(list.written, list.path),
    label: labelOf(filled),
    scope: scopeOfStep(list, step),
    turn: [],
    readsInboxOf: [],
    action,
  }
  return [planned]
}

function reportUnknownNames({ scope, definitions }: StepList, compiler: StepCompiler, value: unknown): void {
  const names = new Set([...Object.keys(scope.values), ...definitions.names()])
  for (const { path, message } of unknownNames(value, names)) compiler.report(path, message)
}

/** Names in addition to vars and matrix; of the named texts only those the step reads, because some are long. */
function scopeOfStep({ plan, scope: { values } }: StepList, step: Step): PlannedStep['scope'] {
  const scope: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) if (plan.shared[name] !== value) scope[name] = value
  const texts = namesIn(step).filter(name => name.startsWith('texts.'))
  if (texts.length > 0) scope.texts = namedTexts(texts.map(name => name.slice('texts.'.length)))
  return escapePlaceholders(scope)
}

function expandParallel(
  list: StepList,
  compiler: StepCompiler,
  parallel: NonNullable<Step['parallel']>,
): PlannedItem[] {
  const branches: { readonly list: StepList; readonly steps: readonly Step[] }[] = []
  if (Array.isArray(parallel))
    for (const [index, steps] of parallel.entries()) {
      const path = [...list.path, 'parallel', index]
      branches.push({ steps, list: { ...list, path, definitions: new Definitions(list.definitions) } })
    }
  else {
    const { chats, loaded } = list.plan
    const users = compiler.staticValue(atLeast(1), parallel.users, ['parallel', 'users'], 1)
    const count = Math.min(users, BUDGETS.steps)
    const path = [...list.path, 'parallel', 'steps']
    if (spend(list, compiler, count))
      for (let user = 1; user <= count; user++) {
        const scope = defineNames(list.scope, { user })
        const conversation = chats.addUser(user, loaded.value.chat ?? {})
        const definitions = new Definitions(list.definitions)
        branches.push({ steps: parallel.steps, list: { ...list, path, scope, conversation, definitions } })
      }
  }
  const items = branches.map(branch => expand(branch.list, branch.steps))
  for (const branch of branches) list.definitions.merge(branch.list.definitions)
  return [{ kind: 'parallel', branches: items }]
}

function expandInclude(list: StepList, compiler: StepCompiler, include: NonNullable<Step['include']>): PlannedItem[] {
  const { file, with: given = {} } = typeof include === 'string' ? { file: include } : include
  reportUnknownNames(list, compiler, { include })
  const path = resolve(dirname(list.written.path), file)
  const part = list.plan.loaded.parts.get(path)
  if (part === undefined) return []
  const params = part.value.params ?? {}
  const count = Object.keys(params).length + Object.keys(given).length
  let why: string | null = null
  if (path === list.written.path || list.within.includes(path))
    why = 'includes a file that is being included already: the steps would never end'
  else if (list.within.length >= BUDGETS.includeNesting)
    why = `is included in more than ${BUDGETS.includeNesting} files inside each other`
  else if (count > BUDGETS.names) why = `has ${count} names; at most ${BUDGETS.names} can be defined here`
  if (why !== null) {
    compiler.report(['include'], why)
    return []
  }
  checkParams(compiler, part.file, params, given)
  const defaults = Object.fromEntries(Object.entries(params).filter(([name]) => !Object.hasOwn(given, name)))
  const scope = defineNamesInOrder(defineNames(list.scope, given), defaults)
  const within = [...list.within, list.written.path]
  return expand({ ...list, written: part, path: ['steps'], scope, within }, part.value.steps)
}

function checkParams(
  compiler: StepCompiler,
  file: string,
  params: Readonly<Record<string, unknown>>,
  given: object,
): void {
  const names = Object.keys(params)
  for (const name of names) {
    if (RESERVED_NAMES.includes(name))
      compiler.report(
        ['include'],
        `${file} has a parameter ${name}, but $(${name}) is always defined; choose another name`,
      )
    if (params[name] === null && !Object.hasOwn(given, name))
      compiler.report(['include'], `needs with: { ${name}: ... }, because ${file} has no value for it`)
  }
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue
    const hint = nearest(name, names) || (names.length === 0 ? '; it has none' : `; it has ${names.join(', ')}`)
    compiler.report(['include', 'with', name], `is not a parameter of ${file}${hint}`, 'key')
  }
}
