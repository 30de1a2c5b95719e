/** Describes a step in one line. */
import { formatDuration } from '../../text/quantities.ts'
import type { Action, CallPattern, ExpectTree } from '../action.ts'

const LONGEST = 100

export const labelOf = (action: Action): string => truncate(describe(action).replace(/\s+/g, ' '), LONGEST)

function describe(action: Action): string {
  switch (action.verb) {
    case 'user':
      return `user ${textOf(action.text)}${action.attach.length === 0 ? '' : ` with ${files(action.attach.length)}`}`
    case 'press':
      return `press ${String(action.button)}`
    case 'bot':
      return `bot ${textOf(action.text)}`
    case 'agent':
      return agentWords(action)
    case 'sees':
      return `agent sees ${quoted(shownItem(action.item))}`
    case 'wait':
      return `wait ${formatDuration(action.ms)}`
    case 'availability':
      return `availability ${action.value}`
    case 'fault':
      return 'clear' in action.fault ? clearWords(action.fault.clear) : `fault ${flowText(action.fault)}`
    case 'deliver':
      return action.replay === null ? `deliver ${String(action.event)}` : `deliver ${action.replay} again`
    case 'target':
      return `target ${action.does}`
    case 'expect':
      return `expect ${treeWords(action.tree)}`
    case 'none':
      return `none ${action.calls.map(callWords).join(', ')} for ${formatDuration(action.forMs)}`
    case 'check':
      return `check ${flowText(action.check)}`
    case 'log':
      return `log ${textOf(action.text)}`
  }
}

const files = (count: number) => (count === 1 ? 'a file' : `${count} files`)
const quoted = (value: unknown) => flowText(typeof value === 'string' ? truncate(value, LONGEST) : value)
/** Quotes a text, also when `$(i)` made it a number. */
const textOf = (value: unknown) => quoted(typeof value === 'object' ? value : String(value))
const clearWords = (clear: string | true) => `fault ${clear === true ? 'clear' : `clear ${clear}`}`

/** Shortens `{ text: Hello }` to `Hello`. */
function shownItem(item: unknown): unknown {
  const isText = typeof item === 'object' && item !== null && 'text' in item && Object.keys(item).length === 1
  return isText ? item.text : item
}

function agentWords({ does, text, with: given }: Extract<Action, { verb: 'agent' }>): string {
  if (does === 'says') return `agent says ${textOf(text)}`
  const name = does.replace(/^does\./, 'does ')
  return given === null ? `agent ${name}` : `agent ${name} ${flowText(given)}`
}

function callWords({ call, body }: CallPattern): string {
  const empty = body === null || (typeof body === 'object' && Object.keys(Object(body)).length === 0)
  return empty ? call : `${call} ${flowText(body)}`
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

const PLAIN = /^[A-Za-z_$][\w.$-]*$/

export function flowText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map(flowText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).map(
    ([key, inner]) => `${PLAIN.test(key) ? key : JSON.stringify(key)}: ${flowText(inner)}`,
  )
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** Cuts whole characters, never half of a surrogate pair. */
export function truncate(text: string, max: number): string {
  const points = [...text.slice(0, max * 2)]
  return points.length <= max && text.length <= max * 2 ? text : `${points.slice(0, max - 1).join('')}…`
}
