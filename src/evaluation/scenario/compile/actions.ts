/** Compiles a written step to its action, and describes the action in one line. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { explainIssues, ZOD_MESSAGES } from '../../../base/schemas/explain-issues.ts'
import { formatDuration } from '../../../base/text/quantities.ts'
import { Fault } from '../../../platform/faults/schema.ts'
import { ACK, AVAILABILITY_VALUE, atLeast, DURATION, FLAG, REASON, SIGN, TARGET, TIMES } from '../format/fields.ts'
import type { Path } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import type { Action, CallPattern, ExpectTree, Template } from '../plan.ts'
import { bodyNotation, flow, itemNotation, truncate } from '../value-text.ts'
import { checkAlternatives, treeOf, unwantedOf } from './call-patterns.ts'
import { interpolateStatic, type StepCompiler } from './step-compiler.ts'

/** Finds the planned id of the step that `since` or `replay` names; null when there is none. */
type FindId = (id: string, path: Path, isReplay: boolean) => string | null

/** The schema ensures that the step has exactly one verb. */
export function actionOf(compiler: StepCompiler, step: Step, findId: FindId): Action {
  const ackOf = (map: { ack?: unknown; async?: unknown }, verb: string) => ({
    ack: compiler.staticValue(ACK, map.ack, [verb, 'ack'], 200 as const),
    async: compiler.staticValue(FLAG, map.async, [verb, 'async'], false),
  })
  if (step.user !== undefined) {
    const map = typeof step.user === 'string' ? { text: step.user } : step.user
    const attach = (map.attach ?? []).map((file, index) => attachmentOf(compiler, file, ['user', 'attach', index]))
    return { verb: 'user', text: map.text ?? '', attach, ...ackOf(map, 'user') }
  }
  if (step.press !== undefined) {
    const map = typeof step.press === 'string' ? { button: step.press } : step.press
    return { verb: 'press', button: map.button, ...ackOf(map, 'press') }
  }
  if (step.bot !== undefined) {
    const map = typeof step.bot === 'string' ? { text: step.bot } : step.bot
    return { verb: 'bot', text: map.text, buttons: map.buttons ?? [] }
  }
  if (step.agent !== undefined) return agentAction(compiler, step.agent)
  if (step.wait !== undefined) return { verb: 'wait', ms: compiler.staticValue(DURATION, step.wait, ['wait'], 0) }
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
      ...ackOf(step.deliver, 'deliver'),
    }
  }
  if (step.target !== undefined)
    return { verb: 'target', does: compiler.staticValue(TARGET, step.target, ['target'], 'restart') }
  if (step.expect !== undefined) {
    const within = typeof step.expect === 'string' ? undefined : step.expect.within
    const withinMs = compiler.staticValue(DURATION, within, ['expect', 'within'], null)
    const tree = treeOf(compiler, step.expect, ['expect'], (id, path) => findId(id, path, false))
    checkAlternatives(compiler, tree, ['expect'])
    return { verb: 'expect', tree, withinMs }
  }
  if (step.none !== undefined)
    return {
      verb: 'none',
      calls: unwantedOf(compiler, step.none, ['none']),
      forMs: compiler.staticValue(DURATION, step.none.for, ['none', 'for'], 0),
    }
  if (step.check !== undefined) return { verb: 'check', check: step.check }
  if (step.log !== undefined) return { verb: 'log', text: step.log }
  throw new TypeError(`A step has no verb: ${Object.keys(step).join(', ')}`)
}

/** Paths are relative to the scenario file. */
function attachmentOf(compiler: StepCompiler, written: Readonly<Record<string, unknown>>, path: Path): Template {
  if (written.size_kb !== undefined)
    return { ...written, size_kb: compiler.staticValue(atLeast(0), written.size_kb, [...path, 'size_kb'], 0) }
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
    times: compiler.staticValue(TIMES, written.times, ['agent', 'times'], { min: 1, max: 1 }),
    withinMs: compiler.staticValue(DURATION, written.within, ['agent', 'within'], null),
    forMs: compiler.staticValue(DURATION, written.for, ['agent', 'for'], null),
  }
}

function faultAction(compiler: StepCompiler, written: NonNullable<Step['fault']>): Action {
  if (written === 'clear') return { verb: 'fault', fault: { clear: true } }
  if ('clear' in written) return { verb: 'fault', fault: { clear: written.clear } }
  const filled = interpolateStatic(written, compiler.scope.values)
  const read = Fault.safeParse(filled, ZOD_MESSAGES)
  if (read.success) return { verb: 'fault', fault: read.data }
  for (const { path, message, wrong } of explainIssues(read.error.issues, filled, Fault))
    compiler.report(['fault', ...path], message, wrong)
  return { verb: 'fault', fault: { clear: true } }
}

const MAX_LABEL = 100

/** The action in one line: `expect message { message: "I'm Anna" }`. */
export const labelOf = (action: Action): string => truncate(describe(action).replace(/\s+/g, ' '), MAX_LABEL)

function describe(action: Action): string {
  switch (action.verb) {
    case 'user': {
      const { length } = action.attach
      const files = length === 0 ? '' : length === 1 ? ' with a file' : ` with ${length} files`
      return `user ${textNotation(action.text)}${files}`
    }
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
      return `wait ${formatDuration(action.ms)}`
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
