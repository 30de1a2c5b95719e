/** Tests that users and agents of a run wait a moment after what they could have seen. */
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../src/platform/journal/entry.ts'
import { answers, TAKEN } from './scripted-steps.ts'
import { describeRows, type Row, type RowsReport } from './table.ts'

/** Node may fire a timer a little early. */
const AT_LEAST_MS = 148

const isEnd = (entry: Entry) => entry.kind === 'api' && entry.endpoint === 'end'
const isUser = (entry: Entry) => entry.kind === 'user'
const isDelivery = (entry: Entry) => entry.kind === 'delivery'
const isAgentStep = (entry: Entry) => entry.kind === 'note' && entry.note === 'step_started' && entry.verb === 'agent'
const LEAVE = '- agent: leave\n- expect: end\n'

const rows: Record<string, Row> = {
  'a user who asks again after the end': `${TAKEN}${LEAVE}- press: handover`,
  'a user who asks again in the last steps': { head: 'finally: [{ press: handover }]', steps: `${TAKEN}${LEAVE}` },
  'an agent who acts after an event': `${TAKEN}- user: one\n${LEAVE}`,
  'an agent after an async step': `${answers('{ status: 200 }', '{ after: 100 }')}${TAKEN}- user: { text: one, async: true }\n${LEAVE}`,
}

const entriesOf = ({ scenarios, journal }: RowsReport, scenario: string): Entry[] => {
  const number = scenarios.findIndex(({ name }) => name === scenario) + 1
  return journal.filter(line => line.scenario === number && line.entry).map(({ entry }) => entry as unknown as Entry)
}

describeRows('steps of people', rows, {}, run => {
  describe('wait', () => {
    it.each([
      ['a user who asks again after the end', isEnd, isUser],
      ['a user who asks again in the last steps', isEnd, isUser],
      ['an agent who acts after an event', isDelivery, isAgentStep],
    ] as const)('%s', async (scenario, isFirst, isNext) => {
      const entries = entriesOf((await run()).report, scenario)
      const next = entries.findLast(isNext)!
      const first = entries.findLast(entry => isFirst(entry) && entry.seq < next.seq)!
      expect(next.at_ms - first.at_ms).toBeGreaterThan(AT_LEAST_MS)
    })
  })

  it('an agent does not wait for the answer to an async step', async () => {
    const entries = entriesOf((await run()).report, 'an agent after an async step')
    const started = entries.findLast(isAgentStep)!
    expect(started.seq).toBeLessThan(entries.findLast(isDelivery)!.seq)
  })
})
