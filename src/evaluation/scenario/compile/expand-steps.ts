/**
 * Expands written steps to planned steps: inserts includes, unrolls repeats, adds the steps of parallel users, and checks
 * names, ids and chats in the order of the run.
 */

import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { BUDGETS } from '../../../base/files/budgets.ts'
import { explainIssues, ZOD_MESSAGES } from '../../../base/schemas/explain-issues.ts'
import { nearest } from '../../../base/text/error-text.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import { Fault } from '../../../platform/faults/schema.ts'
import {
  ACK,
  AVAILABILITY_VALUE,
  atLeast,
  DURATION,
  DURATION_RANGE,
  FLAG,
  LEVEL,
  REASON,
  SEEN_TIMES,
  SIGN,
  SIZE_KB,
  TARGET,
} from '../format/fields.ts'
import {
  type ChatInput,
  type FileValue,
  type LoadedScenario,
  type Path,
  placeOf,
  type ScenarioFile,
} from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import { type InterpolationScope, namesIn, OversizedValueError, sizeOfValue } from '../interpolation.ts'
import type {
  Action,
  CallPattern,
  ConversationSpec,
  ExpectTree,
  PlannedItem,
  PlannedStep,
  ScenarioLevel,
  Template,
} from '../plan.ts'
import { bodyNotation, flow, itemNotation, truncate } from '../value-text.ts'
import { callsOf, checkAlternatives, compileTree, compileUnwanted, listPatterns } from './call-patterns.ts'
import {
  type CompileScope,
  type Diagnostics,
  defineNames,
  defineNamesInOrder,
  escapePlaceholders,
  existingNames,
  interpolateStatic,
  namedTexts,
  RESERVED_NAMES,
  StepCompiler,
  substituteDeferred,
  unknownNames,
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
  /** The level of the scenario, or of the step around the list. */
  readonly level: ScenarioLevel
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
  const inner = {
    ...list,
    conversation: list.plan.chats.conversationOfStep(compiler, step, list.conversation),
    level: compiler.staticValue(LEVEL, step.level, ['level'], list.level),
  }
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
  const action = compileAction(compiler, step, (id, path, isReplay) => definitions.idOf(compiler, id, path, isReplay))
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
    level: list.level,
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

/** Finds the planned id of the step that `since` or `replay` names; null when there is none. */
type FindId = (id: string, path: Path, isReplay: boolean) => string | null

/** The schema ensures that the step has exactly one verb. */
function compileAction(compiler: StepCompiler, step: Step, findId: FindId): Action {
  const compileAck = (map: { ack?: unknown; async?: unknown }, verb: string) => ({
    ack: compiler.staticValue(ACK, map.ack, [verb, 'ack'], 200 as const),
    async: compiler.staticValue(FLAG, map.async, [verb, 'async'], false),
  })
  if (step.user !== undefined) {
    const map = typeof step.user === 'string' ? { text: step.user } : step.user
    if (map.does !== undefined) return { verb: 'leaves', does: map.does }
    const attach = (map.attach ?? []).map((file, index) => compileAttachment(compiler, file, ['user', 'attach', index]))
    return { verb: 'user', text: map.text ?? '', attach, ...compileAck(map, 'user') }
  }
  if (step.press !== undefined) {
    const map = typeof step.press === 'string' ? { button: step.press } : step.press
    return { verb: 'press', button: map.button, ...compileAck(map, 'press') }
  }
  if (step.bot !== undefined) {
    const map = typeof step.bot === 'string' ? { text: step.bot } : step.bot
    return { verb: 'bot', text: map.text, buttons: map.buttons ?? [] }
  }
  if (step.agent !== undefined) return agentAction(compiler, step.agent)
  if (step.wait !== undefined) return { verb: 'wait', ms: compiler.staticValue(DURATION, step.wait, ['wait'], 0) }
  if (step.think !== undefined) {
    const { fromMs, toMs } = compiler.staticValue(DURATION_RANGE, step.think, ['think'], { fromMs: 0, toMs: 0 })
    return { verb: 'wait', ms: fromMs, toMs }
  }
  if (step.availability !== undefined) {
    const { availability } = step
    const map = typeof availability === 'object' ? availability : { availability, reason: undefined }
    const path = typeof availability === 'object' ? ['availability', 'availability'] : ['availability']
    const value = compiler.staticValue(AVAILABILITY_VALUE, map.availability, path, 'OPEN')
    const reason = compiler.staticValue(REASON, map.reason, ['availability', 'reason'], undefined)
    return { verb: 'availability', value, ...(reason !== undefined && { reason }) }
  }
  if (step.fault !== undefined) return faultAction(compiler, step.fault)
  if (step.deliver !== undefined) {
    const { event, replay, body, sign } = step.deliver
    return {
      verb: 'deliver',
      event: event ?? null,
      replay: replay === undefined ? null : findId(replay, ['deliver', 'replay'], true),
      body: body ?? null,
      sign: compiler.staticValue(SIGN, sign, ['deliver', 'sign'], 'valid'),
      ...compileAck(step.deliver, 'deliver'),
    }
  }
  if (step.target !== undefined)
    return { verb: 'target', does: compiler.staticValue(TARGET, step.target, ['target'], 'restart') }
  if (step.expect !== undefined) {
    const within = typeof step.expect === 'string' ? undefined : step.expect.within
    const withinMs = compiler.staticValue(DURATION, within, ['expect', 'within'], null)
    const tree = compileTree(compiler, step.expect, ['expect'], (id, path) => findId(id, path, false))
    checkAlternatives(compiler, tree, ['expect'])
    return { verb: 'expect', tree, withinMs }
  }
  if (step.none !== undefined)
    return {
      verb: 'none',
      calls: compileUnwanted(compiler, step.none, ['none']),
      forMs: compiler.staticValue(DURATION, step.none.for, ['none', 'for'], 0),
    }
  if (step.check !== undefined) return { verb: 'check', check: step.check }
  if (step.log !== undefined) return { verb: 'log', text: step.log }
  throw new TypeError(`A step has no verb: ${Object.keys(step).join(', ')}`)
}

/** Paths are relative to the scenario file. */
function compileAttachment(compiler: StepCompiler, written: Readonly<Record<string, unknown>>, path: Path): Template {
  if (written.size_kb !== undefined)
    return { ...written, size_kb: compiler.staticValue(SIZE_KB, written.size_kb, [...path, 'size_kb'], 0) }
  const file = interpolateStatic(written.file, compiler.scope.values)
  if (typeof file !== 'string' || file.includes('$(')) return written
  const full = isAbsolute(file) ? file : resolve(dirname(compiler.written.path), file)
  if (!existsSync(full)) compiler.report([...path, 'file'], `there is no such file: ${full}`)
  return { ...written, file: full }
}

function agentAction(compiler: StepCompiler, written: NonNullable<Step['agent']>): Action {
  if (typeof written === 'string') return { verb: 'agent', does: written, text: null, with: null }
  const { says, sees, does } = written
  if (says !== undefined) return { verb: 'agent', does: 'says', text: says, with: null }
  if (sees === undefined) return { verb: 'agent', does: `does.${does}`, text: null, with: written.with ?? null }
  // A text or a matcher of a text means an item with that text.
  const isItem = typeof sees === 'object' && sees !== null && !Object.keys(sees).some(key => key.startsWith('$'))
  return {
    verb: 'sees',
    item: isItem ? sees : { text: sees },
    times: compiler.staticValue(SEEN_TIMES, written.times, ['agent', 'times'], { min: 1, max: 1 }),
    withinMs: compiler.staticValue(DURATION, written.within, ['agent', 'within'], null),
    forMs: compiler.staticValue(DURATION, written.for, ['agent', 'for'], null),
  }
}

function faultAction(compiler: StepCompiler, written: NonNullable<Step['fault']>): Action {
  if (written === 'clear') return { verb: 'fault', fault: { clear: true } }
  if ('clear' in written) return { verb: 'fault', fault: { clear: written.clear } }
  const filled = interpolateStatic(written, compiler.scope.values)
  const read = Fault.safeParse(filled, ZOD_MESSAGES)
  // Filled again when the step runs, from what is written: an escaped text must not be filled twice.
  if (read.success) return { verb: 'fault', fault: read.data, template: written }
  for (const { path, message, wrong } of explainIssues(read.error.issues, filled, Fault))
    compiler.report(['fault', ...path], message, wrong)
  return { verb: 'fault', fault: { clear: true } }
}

const MAX_LABEL = 100

/** The action in one line: `expect message { message: "I'm Anna" }`. */
const labelOf = (action: Action): string => truncate(describe(action).replace(/\s+/g, ' '), MAX_LABEL)

function describe(action: Action): string {
  switch (action.verb) {
    case 'user': {
      const { length } = action.attach
      const files = length === 0 ? '' : length === 1 ? ' with a file' : ` with ${length} files`
      return `user ${textNotation(action.text)}${files}`
    }
    case 'leaves':
      return `user ${action.does}s the chat`
    case 'press':
      return `press ${String(action.button)}`
    case 'bot':
      return `bot ${textNotation(action.text)}`
    case 'agent': {
      if (action.does === 'says') return `agent says ${textNotation(action.text)}`
      const name = action.does.replace(/^does\./, 'does ')
      return action.with === null ? `agent ${name}` : `agent ${name} ${flow(action.with, MAX_LABEL)}`
    }
    case 'sees':
      return `agent sees ${itemNotation(action.item, MAX_LABEL)}`
    case 'wait':
      return action.toMs === undefined
        ? `wait ${formatDuration(action.ms)}`
        : `think ${formatDuration(action.ms)}..${formatDuration(action.toMs)}`
    case 'availability':
      return `availability ${action.value}`
    case 'fault': {
      const { fault } = action
      if (!('clear' in fault)) return `fault ${flow(fault, MAX_LABEL)}`
      return fault.clear === true ? 'fault clear' : `fault clear ${fault.clear}`
    }
    case 'deliver':
      return action.replay === null ? `deliver ${String(action.event)}` : `deliver ${action.replay} again`
    case 'target':
      return `target ${action.does}`
    case 'expect':
      return `expect ${describeTree(action.tree)}`
    case 'none':
      return `none ${action.calls.map(describeCall).join(', ')} for ${formatDuration(action.forMs)}`
    case 'check':
      return `check ${flow(action.check, MAX_LABEL)}`
    case 'log':
      return `log ${textNotation(action.text)}`
  }
}

/** Quotes a text, also when `$(i)` made it a number. */
const textNotation = (value: unknown) => flow(typeof value === 'object' ? value : String(value), MAX_LABEL)

function describeCall({ call, body }: CallPattern): string {
  const notation = bodyNotation(body, MAX_LABEL)
  return notation === null ? call : `${call} ${notation}`
}

const GROUPS = { all: 'all of', seq: 'in order', oneOf: 'one of' } as const

function describeTree(tree: ExpectTree): string {
  if (tree.op !== 'call') return `${GROUPS[tree.op]} ${tree.of.map(describeTree).join(', ')}`
  const { min, max } = tree.times
  if (min === 1 && max === 1) return describeCall(tree)
  const atLeastTimes = max === Number.POSITIVE_INFINITY ? `at least ${min} times` : `${min} to ${max} times`
  return `${describeCall(tree)} ${min === max ? `${min} times` : atLeastTimes}`
}

/** The chats of a scenario, and those of its parallel users. */
export class Chats {
  readonly #declared: Readonly<Record<string, ChatInput>>
  readonly #isNamed: boolean
  readonly #used = new Set<string>()
  readonly #ofUsers: ConversationSpec[] = []
  /** The names in the scenario; `main` when it has one chat. */
  readonly names: readonly string[]
  /** The conversation of a step without `chat`; null when `chat` is required. */
  readonly defaultName: string | null

  constructor({ chat, chats }: ScenarioFile) {
    this.#isNamed = chats !== undefined
    this.#declared = chats ?? { main: chat ?? {} }
    this.names = Object.keys(this.#declared)
    this.defaultName = this.names.length === 1 ? (this.names[0] ?? null) : null
  }

  /** Adds the conversation of a parallel user, which begins as `chat`. */
  addUser(user: number, chat: ChatInput): string {
    const name = `user ${this.#ofUsers.length + 1}`
    this.#ofUsers.push(createConversation(name, chat, { user }))
    return name
  }

  use(conversation: string): void {
    this.#used.add(conversation)
  }

  /** The conversations to open: beside parallel users, the only chat is opened when a step uses it. */
  opened(): ConversationSpec[] {
    const opened = Object.entries(this.#declared).filter(
      ([name]) => this.#ofUsers.length === 0 || this.#isNamed || this.#used.has(name),
    )
    return [...opened.map(([name, chat]) => createConversation(name, chat, {})), ...this.#ofUsers]
  }

  /** Null for steps about no chat, and for lists of steps, where each step decides. */
  conversationOfStep(compiler: StepCompiler, step: Step, around: string | null): string | null {
    if (step.chat === undefined) {
      const conversation = around ?? this.defaultName
      if (conversation === null && (isAboutChat(step) || step.fault !== undefined))
        compiler.report([], `does not say which chat: write chat: ${this.names.join(' or chat: ')}`)
      return conversation
    }
    const name = String(interpolateStatic(step.chat, compiler.scope.values))
    if (!this.names.includes(name)) {
      const hint = nearest(name, this.names) || existingNames(this.names)
      compiler.report(['chat'], `${JSON.stringify(name)} is not a chat of this scenario${hint}`)
    }
    return name
  }
}

function createConversation(name: string, chat: ChatInput, scope: ConversationSpec['scope']): ConversationSpec {
  // Null means that of the shipped conversation.
  const isShipped = chat.transcript !== undefined
  return {
    name,
    language: chat.language ?? (isShipped ? null : 'en'),
    source: chat.source ?? (isShipped ? null : 'web'),
    user: chat.user === undefined ? {} : chat.user,
    history: chat.history ?? [],
    transcript: chat.transcript ?? null,
    context: chat.context ?? null,
    labels: chat.labels ?? null,
    scope,
  }
}

/** Whether a step is about a chat; in a scenario with parallel users, a chat without such steps is not opened. */
function isAboutChat(step: Step): boolean {
  if (step.user !== undefined || step.press !== undefined || step.bot !== undefined || step.deliver !== undefined)
    return true
  if (step.agent !== undefined) return step.agent !== 'away' && step.agent !== 'back'
  if (step.check !== undefined) return Object.keys(step.check).some(key => key !== 'availability')
  const calls = step.none ?? step.expect
  if (calls === undefined) return false
  // Availability calls are about the bot and not about a chat.
  const patterns = listPatterns(calls)
  return patterns.length === 0 || patterns.some(({ call }) => call !== 'availability')
}

/** The place where a name is defined; repeated steps share a position. */
interface Definition {
  readonly position: string
  /** Shown in errors. */
  readonly place: string
}

/** The ids and captures that steps can refer to; those of the whole plan are shared with every branch. */
export class Definitions {
  readonly #idsOfPlan: Map<string, Definition & { uses: number }>
  readonly #capturesOfPlan: Map<string, Definition>
  /** By id: the id in the plan, which is `s1#2` in the second round of a repeat, and the verb of the step. */
  readonly #ids: Map<string, { readonly id: string; readonly verb: Action['verb'] }>
  readonly #captures: Set<string>

  constructor(before?: Definitions) {
    this.#idsOfPlan = before ? before.#idsOfPlan : new Map()
    this.#capturesOfPlan = before ? before.#capturesOfPlan : new Map()
    this.#ids = new Map(before ? before.#ids : [])
    this.#captures = new Set(before ? before.#captures : [])
  }

  /** Names captured so far. */
  names(): Iterable<string> {
    return this.#captures
  }

  merge(branch: Definitions): void {
    for (const [name, step] of branch.#ids) this.#ids.set(name, step)
    for (const name of branch.#captures) this.#captures.add(name)
  }

  /** Defines the id of a step and returns its id in the plan. */
  define(compiler: StepCompiler, name: string, verb: Action['verb']): string {
    const here = definitionAt(compiler)
    const defined = this.#idsOfPlan.get(name) ?? { ...here, uses: 0 }
    if (defined.position !== here.position)
      compiler.report(['id'], `is taken: the step at ${defined.place} has it already`)
    defined.uses += 1
    this.#idsOfPlan.set(name, defined)
    const id = defined.uses === 1 ? name : `${name}#${defined.uses}`
    this.#ids.set(name, { id, verb })
    return id
  }

  /** The planned id for `since`, or for `replay`, which must name a step that sends an event. */
  idOf(compiler: StepCompiler, name: string, path: Path, isReplay: boolean): string | null {
    const step = this.#ids.get(name)
    if (step === undefined) {
      const ids = [...this.#ids.keys()]
      const hint = nearest(name, ids) || (ids.length === 0 ? '; give that step an id' : existingNames(ids))
      compiler.report(path, `names no earlier step${hint}`)
      return null
    }
    if (isReplay && !['user', 'press', 'deliver'].includes(step.verb))
      compiler.report(path, `names a step that sends no event: ${step.verb}; user, press and deliver do`)
    return step.id
  }

  /** Defines the names that a step captures. */
  defineCaptures(compiler: StepCompiler, action: Action): void {
    if (action.verb !== 'expect') return
    const { values, deferred } = compiler.scope
    const here = definitionAt(compiler)
    for (const { capture } of callsOf(action.tree))
      for (const name of Object.keys(capture)) {
        const defined = this.#capturesOfPlan.get(name)
        let why: string | null = null
        if (RESERVED_NAMES.includes(name)) why = 'it is always defined'
        else if (Object.hasOwn(values, name) || Object.hasOwn(deferred, name))
          why = 'it is one of vars, matrix or params'
        else if (defined !== undefined && defined.position !== here.position)
          why = `the step at ${defined.place} captures it`
        if (why !== null) compiler.report(['expect', 'capture', name], `is taken: ${why}; choose another name`, 'key')
        if (defined === undefined) this.#capturesOfPlan.set(name, here)
        this.#captures.add(name)
      }
  }
}

function definitionAt({ written, path }: StepCompiler): Definition {
  const place = placeOf(written, path)
  return {
    position: `${written.path} ${written.at.join('.')} ${path.join('.')}`,
    place: place === null ? `${written.file} steps[${path.slice(1).join('.')}]` : `${place.file}:${place.line}`,
  }
}
