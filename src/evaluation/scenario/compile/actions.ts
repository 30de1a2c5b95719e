/** Compiles a written step to its action, and describes the action in one line. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { keysOf } from '../../../base/objects.ts'
import { explainIssues, ZOD_MESSAGES } from '../../../base/schemas/explain-issues.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import { Fault } from '../../../platform/faults/schema.ts'
import { ACK, AVAILABILITY_VALUE, atLeast, DURATION, FLAG, REASON, SIGN, TARGET, TIMES } from '../format/fields.ts'
import type { Path } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import type { Action, AgentVerb, CallPattern, ExpectTree, Template, Verb } from '../plan.ts'
import { bodyNotation, flow, itemNotation, truncate } from '../value-text.ts'
import { checkAlternatives, treeOf, unwantedOf } from './call-patterns.ts'
import { interpolateStatic, type StepCompiler } from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'

export interface StepReferences {
  /** The planned id of the step that `since` or `replay` names; null when there is none. */
  idOf(id: string, path: Path, sending: boolean): string | null
}

type Of<Name extends keyof Step> = NonNullable<Step[Name]>
type Compiler<Name extends keyof Step> = (compiler: StepCompiler, written: Of<Name>, lookup: StepReferences) => Action

const ackOf = (compiler: StepCompiler, map: { ack?: unknown; async?: unknown }, verb: string) => {
  const async = compiler.staticValue(FLAG, map.async, [verb, 'async'], false)
  return { ack: compiler.staticValue(ACK, map.ack, [verb, 'ack'], 200 as const), async }
}

const user: Compiler<'user'> = (compiler, written) => {
  const map = typeof written === 'string' ? { text: written } : written
  const attach = (map.attach ?? []).map((file, index) => attachment(compiler, file, ['user', 'attach', index]))
  return { verb: 'user', text: map.text ?? '', attach, ...ackOf(compiler, map, 'user') }
}

/** Paths are relative to the scenario file. */
function attachment(compiler: StepCompiler, written: Readonly<Record<string, unknown>>, path: Path): Template {
  const file = interpolateStatic(written.file, compiler.scope.values)
  if (written.size_kb !== undefined) {
    return { ...written, size_kb: compiler.staticValue(atLeast(0), written.size_kb, [...path, 'size_kb'], 0) }
  }
  if (typeof file !== 'string' || file.includes('$(')) return written
  const full = isAbsolute(file) ? file : resolve(dirname(compiler.written.path), file)
  if (!existsSync(full)) compiler.report([...path, 'file'], COMPILE_TEXTS.noFile(full))
  return { ...written, file: full }
}

const press: Compiler<'press'> = (compiler, written) => {
  const map = typeof written === 'string' ? { button: written } : written
  return { verb: 'press', button: map.button, ...ackOf(compiler, map, 'press') }
}

const bot: Compiler<'bot'> = (_compiler, written) => {
  const map = typeof written === 'string' ? { text: written } : written
  return { verb: 'bot', text: map.text, buttons: map.buttons ?? [] }
}

const agent: Compiler<'agent'> = (compiler, written) => {
  if (typeof written === 'string') return { verb: 'agent', does: written, text: null, with: null }
  if (written.sees !== undefined) return sees(compiler, written)
  const does: AgentVerb = written.says === undefined ? `does.${written.does}` : 'says'
  return { verb: 'agent', does, text: written.says ?? null, with: written.with ?? null }
}

function sees(compiler: StepCompiler, written: Exclude<Of<'agent'>, string>): Action {
  return {
    verb: 'sees',
    item: inboxItem(written.sees),
    times: compiler.staticValue(TIMES, written.times, ['agent', 'times'], { min: 1, max: 1 }),
    withinMs: compiler.staticValue(DURATION, written.within, ['agent', 'within'], null),
    forMs: compiler.staticValue(DURATION, written.for, ['agent', 'for'], null),
  }
}

/** A text or a matcher of a text means an item with that text. */
function inboxItem(written: unknown): Template {
  if (typeof written !== 'object' || written === null) return { text: written }
  return Object.keys(written).some(key => key.startsWith('$')) ? { text: written } : written
}

const availability: Compiler<'availability'> = (compiler, written) => {
  if (typeof written === 'string') {
    return { verb: 'availability', value: compiler.staticValue(AVAILABILITY_VALUE, written, ['availability'], 'OPEN') }
  }
  const path = ['availability', 'availability']
  const value = compiler.staticValue(AVAILABILITY_VALUE, written.availability, path, 'OPEN')
  const reason = compiler.staticValue(REASON, written.reason, ['availability', 'reason'], undefined)
  return { verb: 'availability', value, ...(reason === undefined ? {} : { reason }) }
}

const fault: Compiler<'fault'> = (compiler, written) => {
  if (written === 'clear') return { verb: 'fault', fault: { clear: true } }
  if ('clear' in written) return { verb: 'fault', fault: { clear: written.clear } }
  const filled = interpolateStatic(written, compiler.scope.values)
  const read = Fault.safeParse(filled, ZOD_MESSAGES)
  if (read.success) return { verb: 'fault', fault: read.data }
  for (const { path, message, wrong } of explainIssues(read.error.issues, filled, Fault)) {
    compiler.report(['fault', ...path], message, wrong)
  }
  return { verb: 'fault', fault: { clear: true } }
}

const deliver: Compiler<'deliver'> = (compiler, written, lookup) => ({
  verb: 'deliver',
  event: written.event ?? null,
  replay: written.replay === undefined ? null : lookup.idOf(written.replay, ['deliver', 'replay'], true),
  body: written.body ?? null,
  sign: compiler.staticValue(SIGN, written.sign, ['deliver', 'sign'], 'valid'),
  ...ackOf(compiler, written, 'deliver'),
})

const expect: Compiler<'expect'> = (compiler, written, lookup) => {
  const withinMs =
    typeof written === 'string' ? null : compiler.staticValue(DURATION, written.within, ['expect', 'within'], null)
  const tree = treeOf(compiler, written, ['expect'], (id, path) => lookup.idOf(id, path, false))
  checkAlternatives(compiler, tree, ['expect'])
  return { verb: 'expect', tree, withinMs }
}

const none: Compiler<'none'> = (compiler, written) => ({
  verb: 'none',
  calls: unwantedOf(compiler, written, ['none']),
  forMs: compiler.staticValue(DURATION, written.for, ['none', 'for'], 0),
})

const COMPILERS: { readonly [Name in Exclude<Verb, 'sees'>]: Compiler<Name> } = {
  user,
  press,
  bot,
  agent,
  wait: (compiler, written) => ({ verb: 'wait', ms: compiler.staticValue(DURATION, written, ['wait'], 0) }),
  availability,
  fault,
  deliver,
  target: (compiler, written) => ({
    verb: 'target',
    does: compiler.staticValue(TARGET, written, ['target'], 'restart'),
  }),
  expect,
  none,
  check: (_compiler, written) => ({ verb: 'check', check: written }),
  log: (_compiler, written) => ({ verb: 'log', text: written }),
}

/** The schema ensures that the step has exactly one verb. */
export function actionOf(compiler: StepCompiler, step: Step, lookup: StepReferences): Action {
  const compileVerb = <Name extends keyof typeof COMPILERS>(verb: Name): Action[] => {
    const written = step[verb]
    return written === undefined || written === null ? [] : [COMPILERS[verb](compiler, written, lookup)]
  }
  const [action] = keysOf(COMPILERS).flatMap(compileVerb)
  if (action === undefined) throw new TypeError(`A step has no verb: ${Object.keys(step).join(', ')}`)
  return action
}

const LONGEST = 100

export const labelOf = (action: Action): string => truncate(describe(action.verb, action).replace(/\s+/g, ' '), LONGEST)

type ActionOf<Name extends Verb> = Extract<Action, { verb: Name }>

const describe = <Name extends Verb>(verb: Name, action: ActionOf<Name>): string => LABELS[verb](action)

const LABELS: { readonly [Name in Verb]: (action: ActionOf<Name>) => string } = {
  user: ({ text, attach: { length } }) =>
    `user ${textOf(text)}${length === 0 ? '' : ` with ${length === 1 ? 'a file' : `${length} files`}`}`,
  press: ({ button }) => `press ${String(button)}`,
  bot: ({ text }) => `bot ${textOf(text)}`,
  agent: agentWords,
  sees: ({ item }) => `agent sees ${itemNotation(item, LONGEST)}`,
  wait: ({ ms }) => `wait ${formatDuration(ms)}`,
  availability: ({ value }) => `availability ${value}`,
  fault: ({ fault: spec }) =>
    'clear' in spec ? `fault ${spec.clear === true ? 'clear' : `clear ${spec.clear}`}` : `fault ${valueText(spec)}`,
  deliver: ({ event, replay }) => (replay === null ? `deliver ${String(event)}` : `deliver ${replay} again`),
  target: ({ does }) => `target ${does}`,
  expect: ({ tree }) => `expect ${treeWords(tree)}`,
  none: ({ calls, forMs }) => `none ${calls.map(callWords).join(', ')} for ${formatDuration(forMs)}`,
  check: ({ check }) => `check ${valueText(check)}`,
  log: ({ text }) => `log ${textOf(text)}`,
}

const valueText = (value: unknown) => flow(value, LONGEST)
/** Quotes a text, also when `$(i)` made it a number. */
const textOf = (value: unknown) => valueText(typeof value === 'object' ? value : String(value))
function agentWords({ does, text, with: given }: ActionOf<'agent'>): string {
  if (does === 'says') return `agent says ${textOf(text)}`
  const name = does.replace(/^does\./, 'does ')
  return given === null ? `agent ${name}` : `agent ${name} ${valueText(given)}`
}

function callWords({ call, body }: CallPattern): string {
  const notation = bodyNotation(body, LONGEST)
  return notation === null ? call : `${call} ${notation}`
}

const GROUPS = { all: 'all of', seq: 'in order', oneOf: 'one of' } as const

function treeWords(tree: ExpectTree): string {
  if (tree.op !== 'call') return `${GROUPS[tree.op]} ${tree.of.map(treeWords).join(', ')}`
  const { min, max } = tree.times
  return `${callWords(tree)}${min === 1 && max === 1 ? '' : ` ${timesWords(min, max)}`}`
}

function timesWords(min: number, max: number): string {
  if (min === max) return `${min} times`
  return max === Number.POSITIVE_INFINITY ? `at least ${min} times` : `${min} to ${max} times`
}
