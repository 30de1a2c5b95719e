/** The pace of users and agents: a moment after what they could have seen, and at once after what a step has seen. */
import { expect, it } from 'vitest'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { answers, HI, TAKEN } from './scripted-steps.ts'
import { type RowsReport, runRows } from './table.ts'

/** Node may fire a timer a little early. */
const AT_LEAST_MS = 148

const entriesOf = ({ journal }: RowsReport): Entry[] =>
  journal.flatMap(({ entry }) => (entry === undefined ? [] : [entry as unknown as Entry]))

/** Milliseconds from the last entry of the first kind to the next one of the second, in the only chat. */
function pauseBetween(report: RowsReport, isFirst: (entry: Entry) => boolean, isNext: (entry: Entry) => boolean) {
  const entries = entriesOf(report)
  const next = entries.findLast(isNext)!
  const first = entries.findLast(entry => isFirst(entry) && entry.seq < next.seq)!
  return next.at_ms - first.at_ms
}

const run = async (steps: string, head = '') =>
  runRows(await startScriptedIntermediary(), { one: { head, steps, is: 'pass' } })
const isEnd = (entry: Entry) => entry.kind === 'api' && entry.endpoint === 'end'
const isStart = (entry: Entry) => entry.kind === 'api' && entry.endpoint === 'start'
const isUser = (entry: Entry) => entry.kind === 'user'
const isDelivery = (entry: Entry) => entry.kind === 'delivery'
const isAgentStep = (entry: Entry) => entry.kind === 'note' && entry.note === 'step_started' && entry.verb === 'agent'
const LEAVE = '- agent: leave\n- expect: end\n'

it.for([
  ['a user who asks again after the end', `${TAKEN}${LEAVE}- press: handover`, '', isEnd, isUser],
  ['a user who asks again in the last steps', `${TAKEN}${LEAVE}`, 'finally:\n- press: handover', isEnd, isUser],
  ['a user who writes after the start', `${TAKEN}- user: Hello`, '', isStart, isUser],
  ['a user who writes twice', `${TAKEN}- user: one\n- user: two`, '', isDelivery, isUser],
  ['an agent who acts after the start', `${TAKEN}- agent: { says: Hi }\n- expect: ${HI}`, '', isStart, isAgentStep],
  ['an agent who acts after an event', `${TAKEN}- user: one\n${LEAVE}`, '', isDelivery, isAgentStep],
] as const)('waits for %s', async ([, steps, head, isFirst, isNext], { expect }) => {
  const report = await run(steps, head)
  expect(report.exit_code).toBe(0)
  expect(pauseBetween(report, isFirst, isNext)).toBeGreaterThan(AT_LEAST_MS)
})

it('does not wait after an async step', async () => {
  const events = answers('{ status: 200 }', '{ after: 100 }')
  const report = await run(`${events}${TAKEN}- user: { text: one, async: true }\n${LEAVE}`)
  expect(report.exit_code).toBe(0)
  const started = entriesOf(report).findLast(isAgentStep)!
  expect(started.seq).toBeLessThan(entriesOf(report).findLast(isDelivery)!.seq)
})

it('does not wait after a text that the other side has seen', async () => {
  const turn = `[{ user: Question }, { agent: { sees: Question } }, { agent: { says: Hi } }, { expect: ${HI} }]`
  const report = await run(`${TAKEN}- repeat: { times: 20, steps: ${turn} }`)
  expect(report.exit_code).toBe(0)
  const steps = entriesOf(report).filter(({ kind }) => kind === 'note')
  // On a busy machine some steps begin late, but not all.
  const pauses = steps.map((entry, index) => (isAgentStep(entry) ? entry.at_ms - steps[index - 1]!.at_ms : Infinity))
  expect(Math.min(...pauses.slice(-40))).toBeLessThan(AT_LEAST_MS)
})
