/**
 * From written steps to planned ones: includes put in, repeats unrolled, users written out, every name, id and chat
 * checked in the order of the play.
 */
import { dirname, resolve } from 'node:path'
import { nearest } from '../../text/near-names.ts'
import type { Action } from '../action.ts'
import { type LoadedScenario, type Path, placeOf, type Written } from '../format/loaded.ts'
import type { Step } from '../format/step.ts'
import { atLeast, FLAG } from '../format/values.ts'
import { namesIn, type Scope } from '../interpolation.ts'
import type { PlannedItem, PlannedStep } from '../plan.ts'
import { actionOf } from './actions.ts'
import { type Chats, conversationOfStep, isAboutChat } from './chats.ts'
import { Seen } from './definitions.ts'
import { labelOf } from './label.ts'
import { namedTexts, RESERVED_NAMES, unknownNames } from './names.ts'
import { createStepCompiler, type Diagnostics, type StepCompiler } from './step-compiler.ts'
import { escaped, fillKnown, type Known, substitute, withNames, withNamesInOrder } from './templates.ts'
import { TEXTS } from './texts.ts'

const MOST_STEPS = 10_000

/** Shared by the whole plan. */
export interface Expansion {
  readonly loaded: LoadedScenario
  readonly diagnostics: Diagnostics
  readonly chats: Chats
  /** Vars and matrix, which the plan has for all its steps. */
  readonly shared: Scope
  /** So far. */
  count: number
}

/** Where a list of steps stands. */
export interface Frame {
  readonly written: Written<unknown>
  readonly path: Path
  readonly known: Known
  /** What earlier steps have defined; branches have their own. */
  readonly seen: Seen
  /** Said by `chat:` around the list, or the lane of a parallel user. */
  readonly conversation: string | null
  /** Files that include this one, outermost first. */
  readonly within: readonly string[]
}

export function expand(all: Expansion, frame: Frame, steps: readonly Step[]): PlannedItem[] {
  return steps.flatMap((step, index) => {
    if (all.count > MOST_STEPS) return []
    return expandOne(all, { ...frame, path: [...frame.path, index] }, step)
  })
}

function expandOne(all: Expansion, frame: Frame, written: Step): PlannedItem[] {
  const step = substitute(written, frame.known.open) as Step
  const compiler = createStepCompiler(frame.written, frame.path, frame.known, all.diagnostics)
  const inner = { ...frame, conversation: conversationOfStep(all.chats, compiler, step, frame.conversation) }
  if (step.repeat !== undefined) return expandRepeat(all, inner, compiler, written.repeat!, step.repeat.times)
  if (step.parallel !== undefined) return expandParallel(all, inner, compiler, written.parallel!)
  if (step.include !== undefined) return expandInclude(all, inner, compiler, step.include)
  return plainStep(all, inner, compiler, step)
}

function plainStep(all: Expansion, frame: Frame, compiler: StepCompiler, step: Step): PlannedItem[] {
  if (++all.count > MOST_STEPS) {
    compiler.complain([], TEXTS.tooManySteps(MOST_STEPS))
    return []
  }
  checkNames(frame, compiler, step)
  const action = actionOf(compiler, step, { idOf: (id, path, sending) => frame.seen.idOf(compiler, id, path, sending) })
  const conversation = frame.conversation ?? all.chats.names[0] ?? 'main'
  if (step.chat !== undefined || isAboutChat(step)) all.chats.use(conversation)
  frame.seen.captures(compiler, action)
  const planned: PlannedStep = {
    kind: 'step',
    number: all.count,
    id: step.id === undefined ? null : frame.seen.define(compiler, step.id, action.verb),
    name: step.name === undefined ? null : compiler.words(step.name, ['name']),
    conversation,
    soft: compiler.held(FLAG, step.soft, ['soft'], false),
    place: placeOf(frame.written, frame.path),
    label: labelOf(fillKnown(action, frame.known.scope) as Action),
    scope: scopeFor(all, frame.known, step),
    turn: [],
    readsInboxOf: [],
    action,
  }
  return [planned]
}

function checkNames({ known, seen }: Frame, compiler: StepCompiler, step: Step): void {
  const names = new Set([...Object.keys(known.scope), ...seen.names()])
  for (const { path, message } of unknownNames(step, names)) compiler.complain(path, message)
}

/** What the step reads beside vars and matrix; of the texts only its own: one of them is long. */
function scopeFor(all: Expansion, { scope }: Known, step: Step): PlannedStep['scope'] {
  const own = Object.fromEntries(Object.entries(scope).filter(([name, value]) => all.shared[name] !== value))
  const read = namesIn(step).filter(name => name.startsWith('texts.'))
  const texts = read.length === 0 ? {} : { texts: namedTexts(read.map(name => name.slice('texts.'.length))) }
  return escaped({ ...own, ...texts }) as PlannedStep['scope']
}

function expandRepeat(
  all: Expansion,
  frame: Frame,
  compiler: StepCompiler,
  repeat: NonNullable<Step['repeat']>,
  written: unknown,
) {
  const times = compiler.held(atLeast(1), written, ['repeat', 'times'], 1)
  const path = [...frame.path, 'repeat', 'steps']
  const items: PlannedItem[] = []
  for (let i = 1; i <= times && all.count <= MOST_STEPS; i++) {
    items.push(...expand(all, { ...frame, path, known: withNames(frame.known, { i }) }, repeat.steps))
    if (repeat.steps.length === 0) break
  }
  return items
}

function expandParallel(
  all: Expansion,
  frame: Frame,
  compiler: StepCompiler,
  parallel: NonNullable<Step['parallel']>,
): PlannedItem[] {
  const branches = Array.isArray(parallel)
    ? parallel.map((steps, index) => ({ steps, frame: branchOf(frame, ['parallel', index]) }))
    : usersOf(all, frame, compiler, parallel)
  const played = branches.map(({ frame: own, steps }) => expand(all, own, steps))
  for (const { frame: own } of branches) frame.seen.merge(own.seen)
  return [{ kind: 'parallel', branches: played }]
}

const branchOf = (frame: Frame, path: Path): Frame => ({
  ...frame,
  path: [...frame.path, ...path],
  seen: new Seen(frame.seen),
})

function usersOf(
  all: Expansion,
  frame: Frame,
  compiler: StepCompiler,
  { users, steps }: { users: unknown; steps: Step[] },
) {
  const count = compiler.held(atLeast(1), users, ['parallel', 'users'], 1)
  return Array.from({ length: Math.min(count, MOST_STEPS) }, (_, index) => {
    const own = branchOf(frame, ['parallel', 'steps'])
    const known = withNames(frame.known, { user: index + 1 })
    return { steps, frame: { ...own, known, conversation: all.chats.fresh(index + 1) } }
  })
}

function expandInclude(
  all: Expansion,
  frame: Frame,
  compiler: StepCompiler,
  include: NonNullable<Step['include']>,
): PlannedItem[] {
  const { file, with: given = {} } = typeof include === 'string' ? { file: include } : include
  checkNames(frame, compiler, { include } as Step)
  const path = resolve(dirname(frame.written.path), file)
  const part = all.loaded.parts.get(path)
  if (part === undefined || isCircle(frame, compiler, path)) return []
  const params = part.value.params ?? {}
  checkParams(compiler, part.file, params, given)
  const defaults = Object.fromEntries(Object.entries(params).filter(([name]) => !Object.hasOwn(given, name)))
  const known = withNamesInOrder(withNames(frame.known, given), defaults)
  const within = [...frame.within, frame.written.path]
  return expand(all, { ...frame, written: part, path: ['steps'], known, within }, part.value.steps)
}

function isCircle({ written, within }: Frame, compiler: StepCompiler, path: string): boolean {
  if (path !== written.path && !within.includes(path)) return false
  compiler.complain(['include'], TEXTS.circle)
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
    compiler.complain(['include'], TEXTS.reservedParameter(file, name))
  }
  for (const name of Object.keys(given).filter(name => !names.includes(name))) {
    const hint = nearest(name, names) || (names.length === 0 ? TEXTS.hasNone : TEXTS.has('it', names))
    compiler.complain(['include', 'with', name], TEXTS.unknownParameter(file, hint), 'key')
  }
  for (const name of names.filter(name => params[name] === null && !Object.hasOwn(given, name))) {
    compiler.complain(['include'], TEXTS.missingParameter(file, name))
  }
}
