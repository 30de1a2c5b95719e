/** What the agent of the example sees of what was written before `start`: exactly once and in order, also in unusual conversations. */
import { expect, it } from 'vitest'
import type { InboxItem } from '../../src/evaluation/scenario/run-events.ts'
import type { RunnableScenario } from '../../src/testing/scenario.ts'
import type { Changes } from '../mutants/changes.ts'
import { runInProcess } from './in-process.ts'

/** Runs the steps, and resolves with what the inbox shows at their end. */
async function inboxAfter(
  steps: readonly object[],
  head: object = {},
  changes: Changes = null,
): Promise<readonly InboxItem[]> {
  // Reads the inbox once more, after a call that comes late.
  const last = { agent: { sees: { text: 'never' }, times: 0, for: '700ms' } }
  const scenario = { version: 1, name: 'Written before', chat: { language: 'en' }, ...head, steps: [...steps, last] }
  const [result] = await runInProcess(changes, scenario as unknown as RunnableScenario)
  expect(result?.failures).toEqual([])
  return (result?.journal ?? [])
    .flatMap(entry => ('items' in entry ? [entry.items as readonly InboxItem[]] : []))
    .at(-1)!
}

/** The texts that begin with a word of the test, without those of the bot. */
const textsIn = (items: readonly InboxItem[]) =>
  items.flatMap(({ text = '' }) => (/^(Before|Waiting|After|ok)/.test(text) ? [text] : []))
const TAKEN_OVER = [{ agent: 'accept' }, { expect: 'start' }] as const

it('many messages come in order, and what is written right after start comes once', async () => {
  const history = Array.from({ length: 300 }, (_, index) => ({ user: `Before ${index}` }))
  const slow = { fault: { on: { api: ['transcript', 'chat'] }, latency: '400ms' } }
  const written = [{ user: 'Waiting' }, ...TAKEN_OVER, { user: 'After' }]
  const items = await inboxAfter([slow, { press: 'handover' }, ...written], { chat: { history } })
  expect(textsIn(items)).toEqual([...history.map(({ user }) => user), 'Waiting', 'After'])
})

it('the same text before and after start is shown as often as it was written', async () => {
  const steps = [{ user: 'ok' }, { press: 'handover' }, { user: 'ok' }, ...TAKEN_OVER, { user: 'ok' }]
  expect(textsIn(await inboxAfter(steps))).toEqual(['ok', 'ok', 'ok'])
})

it('files that come while the transcript is read are not lost', async () => {
  const slow = { fault: { on: { api: 'chat' }, latency: '400ms' } }
  const file = { name: 'a.pdf', type: 'application/pdf', size_kb: 1 }
  const waiting = { user: { text: 'Waiting', attach: [file] } }
  const after = { user: { text: 'After', attach: [file] } }
  const items = await inboxAfter([slow, { press: 'handover' }, waiting, ...TAKEN_OVER, after])
  expect(textsIn(items)).toEqual(['Waiting', 'After'])
  // The description names no files in the messages of a transcript.
  expect(items.map(({ attachments = [] }) => attachments.length).filter(count => count > 0)).toEqual([1])
  expect(items.at(-1)).toMatchObject({ text: 'After', attachments: [{ name: 'a.pdf' }] })
})

it('a second handover shows only what was written since the first', async () => {
  const handover = (number: number) => [
    { user: `Before ${number}` },
    { press: 'handover' },
    { user: `Waiting ${number}` },
    ...TAKEN_OVER,
    { user: `After ${number}` },
    { agent: { sees: `After ${number}` } },
    { agent: 'leave' },
    { expect: 'end' },
  ]
  const items = await inboxAfter([...handover(1), ...handover(2)])
  expect(textsIn(items)).toEqual(['Before 1', 'Waiting 1', 'After 1', 'Before 2', 'Waiting 2', 'After 2'])
})

it('without a key of the chat transcript, the agent sees what was written before the request', async () => {
  const steps = [{ user: 'Before' }, { press: 'handover' }, { user: 'Waiting' }, ...TAKEN_OVER, { user: 'After' }]
  expect(textsIn(await inboxAfter(steps, {}, 'reads-handover-transcript'))).toEqual(['Before', 'After'])
})

it('messages that came by webhook before start are not shown again', async () => {
  const head = { config: { 'request.forwardPending': 'on' } }
  const steps = [{ user: 'Before' }, { press: 'handover' }, { user: 'Waiting' }, ...TAKEN_OVER, { user: 'After' }]
  expect(textsIn(await inboxAfter(steps, head))).toEqual(['Before', 'Waiting', 'After'])
})
