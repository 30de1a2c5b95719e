/** What is written about calls, as patterns and trees. */
import type { CallName, CallPattern, ExpectTree, Times } from '../action.ts'
import { type Expected, type ExpectWritten, GROUP_NAMES } from '../format/calls.ts'
import { ALIAS, AUTH, CALL_NAMES, DURATION, TIMES } from '../format/held.ts'
import type { Here } from './here.ts'

type Path = readonly PropertyKey[]
const ONCE: Times = { min: 1, max: 1 }

/** `start` or `{ start: body }`; a map may name several. */
export function patternsOf(written: CallName | object): CallPattern[] {
  if (typeof written === 'string') return [{ call: written, body: null }]
  const map = written as Readonly<Record<string, unknown>>
  return CALL_NAMES.filter(name => map[name] !== undefined).map(call => ({ call, body: map[call] }))
}

/** `idOf` finds the step a `since` names. */
export function treeOf(
  here: Here,
  written: ExpectWritten,
  path: Path,
  idOf: (id: string, path: Path) => string | null,
): ExpectTree {
  if (typeof written === 'string') return callTree(here, written, {}, path, idOf)
  const group = GROUP_NAMES.find(name => written[name as 'all'] !== undefined) as 'all' | 'seq' | 'oneOf' | undefined
  if (group === undefined) return callTree(here, written, written, path, idOf)
  const inner = written[group]!.map((one, index) => treeOf(here, one, [...path, group, index], idOf))
  return { op: group, of: inner }
}

function callTree(
  here: Here,
  written: CallName | Expected,
  options: Expected,
  path: Path,
  idOf: (id: string, path: Path) => string | null,
): ExpectTree {
  const [pattern] = patternsOf(written)
  return {
    op: 'call',
    ...(pattern ?? { call: 'any', body: null }),
    times: here.held(TIMES, options.times, [...path, 'times'], ONCE),
    apartMs: here.held(DURATION, options.apart, [...path, 'apart'], null),
    since: options.since === undefined ? null : idOf(options.since, [...path, 'since']),
    alias: here.held(ALIAS, options.alias, [...path, 'alias'], null),
    auth: here.held(AUTH, options.auth, [...path, 'auth'], 'valid'),
    capture: options.capture ?? {},
  }
}

/** Every call of a tree, with the names it captures. */
export function* callsOf(tree: ExpectTree): Generator<Extract<ExpectTree, { op: 'call' }>> {
  if (tree.op === 'call') yield tree
  else for (const one of tree.of) yield* callsOf(one)
}
