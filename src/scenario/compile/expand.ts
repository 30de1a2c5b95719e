/**
 * From written steps to planned ones: includes put in, repeats unrolled, users written out, every name, id and chat
 * checked in the order of the play.
 */
import { dirname, resolve } from 'node:path'
import { nearest } from '../../text/nearest.ts'
import type { Action } from '../action.ts'
import { namesIn, type Scope } from '../fill.ts'
import { atLeast, FLAG } from '../format/held.ts'
import { type LoadedScenario, type Path, placeOf, type Written } from '../format/loaded.ts'
import type { Step } from '../format/step.ts'
import { namedTexts } from '../named-texts.ts'
import type { PlannedItem, PlannedStep } from '../plan.ts'
import { actionOf } from './actions.ts'
import type { Chats } from './chats.ts'
import { type Complaints, type Here, hereAt } from './here.ts'
import { labelOf } from './label.ts'
import { isAboutChat, laneOfStep } from './lane.ts'
import { RESERVED, unknownNames } from './names.ts'
import { Seen } from './seen.ts'
import { escaped, fillKnown, type Known, substitute, withNames, withNamesInOrder } from './templates.ts'

const MOST_STEPS = 10_000

/** Shared by the whole plan. */
export interface Expansion {
  readonly loaded: LoadedScenario
  readonly complaints: Complaints
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
  readonly lane: string | null
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
  const here = hereAt(frame.written, frame.path, frame.known, all.complaints)
  const inner = { ...frame, lane: laneOfStep(all.chats, here, step, frame.lane) }
  if (step.repeat !== undefined) return expandRepeat(all, inner, here, written.repeat!, step.repeat.times)
  if (step.parallel !== undefined) return expandParallel(all, inner, here, written.parallel!)
  if (step.include !== undefined) return expandInclude(all, inner, here, step.include)
  return plainStep(all, inner, here, step)
}

function plainStep(all: Expansion, frame: Frame, here: Here, step: Step): PlannedItem[] {
  if (++all.count > MOST_STEPS) {
    here.complain([], `is one of more than ${MOST_STEPS} steps, repeats unrolled: that is too many for one scenario`)
    return []
  }
  checkNames(frame, here, step)
  const action = actionOf(here, step, { idOf: (id, path, sending) => frame.seen.idOf(here, id, path, sending) })
  const lane = frame.lane ?? all.chats.names[0] ?? 'main'
  if (step.chat !== undefined || isAboutChat(step)) all.chats.use(lane)
  frame.seen.captures(here, action)
  const planned: PlannedStep = {
    kind: 'step',
    number: all.count,
    id: step.id === undefined ? null : frame.seen.define(here, step.id, action.verb),
    name: step.name === undefined ? null : here.words(step.name, ['name']),
    lane,
    soft: here.held(FLAG, step.soft, ['soft'], false),
    place: placeOf(frame.written, frame.path),
    label: labelOf(fillKnown(action, frame.known.scope) as Action),
    scope: scopeFor(all, frame.known, step),
    turn: [],
    readsInboxOf: [],
    action,
  }
  return [planned]
}

function checkNames({ known, seen }: Frame, here: Here, step: Step): void {
  const names = new Set([...Object.keys(known.scope), ...seen.names()])
  for (const { path, message } of unknownNames(step, names)) here.complain(path, message)
}

/** What the step reads beside vars and matrix; of the texts only its own: one of them is long. */
function scopeFor(all: Expansion, { scope }: Known, step: Step): PlannedStep['scope'] {
  const own = Object.fromEntries(Object.entries(scope).filter(([name, value]) => all.shared[name] !== value))
  const read = namesIn(step).filter(name => name.startsWith('texts.'))
  const texts = read.length === 0 ? {} : { texts: namedTexts(read.map(name => name.slice('texts.'.length))) }
  return escaped({ ...own, ...texts }) as PlannedStep['scope']
}

function expandRepeat(all: Expansion, frame: Frame, here: Here, repeat: NonNullable<Step['repeat']>, written: unknown) {
  const times = here.held(atLeast(1), written, ['repeat', 'times'], 1)
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
  here: Here,
  parallel: NonNullable<Step['parallel']>,
): PlannedItem[] {
  const branches = Array.isArray(parallel)
    ? parallel.map((steps, index) => ({ steps, frame: branchOf(frame, ['parallel', index]) }))
    : usersOf(all, frame, here, parallel)
  const played = branches.map(({ frame: own, steps }) => expand(all, own, steps))
  for (const { frame: own } of branches) frame.seen.merge(own.seen)
  return [{ kind: 'parallel', branches: played }]
}

const branchOf = (frame: Frame, path: Path): Frame => ({
  ...frame,
  path: [...frame.path, ...path],
  seen: new Seen(frame.seen),
})

function usersOf(all: Expansion, frame: Frame, here: Here, { users, steps }: { users: unknown; steps: Step[] }) {
  const count = here.held(atLeast(1), users, ['parallel', 'users'], 1)
  return Array.from({ length: Math.min(count, MOST_STEPS) }, (_, index) => {
    const own = branchOf(frame, ['parallel', 'steps'])
    const known = withNames(frame.known, { user: index + 1 })
    return { steps, frame: { ...own, known, lane: all.chats.fresh(index + 1) } }
  })
}

function expandInclude(all: Expansion, frame: Frame, here: Here, include: NonNullable<Step['include']>): PlannedItem[] {
  const { file, with: given = {} } = typeof include === 'string' ? { file: include } : include
  checkNames(frame, here, { include } as Step)
  const path = resolve(dirname(frame.written.path), file)
  const part = all.loaded.parts.get(path)
  if (part === undefined || isCircle(frame, here, path)) return []
  const params = part.value.params ?? {}
  checkParams(here, part.file, params, given)
  const defaults = Object.fromEntries(Object.entries(params).filter(([name]) => !Object.hasOwn(given, name)))
  const known = withNamesInOrder(withNames(frame.known, given), defaults)
  const within = [...frame.within, frame.written.path]
  return expand(all, { ...frame, written: part, path: ['steps'], known, within }, part.value.steps)
}

function isCircle({ written, within }: Frame, here: Here, path: string): boolean {
  if (path !== written.path && !within.includes(path)) return false
  here.complain(['include'], 'includes a file that is being included already: the steps would never end')
  return true
}

function checkParams(here: Here, file: string, params: Readonly<Record<string, unknown>>, given: object): void {
  const names = Object.keys(params)
  for (const name of names.filter(name => RESERVED.includes(name))) {
    here.complain(['include'], `${file} has a parameter ${name}, but $(${name}) is always there; choose another name`)
  }
  for (const name of Object.keys(given).filter(name => !names.includes(name))) {
    const hint = nearest(name, names) || (names.length === 0 ? '; it has none' : `; it has ${names.join(', ')}`)
    here.complain(['include', 'with', name], `is not a parameter of ${file}${hint}`, 'key')
  }
  for (const name of names.filter(name => params[name] === null && !Object.hasOwn(given, name))) {
    here.complain(['include'], `needs with: { ${name}: ... }, because ${file} has no value for it`)
  }
}
