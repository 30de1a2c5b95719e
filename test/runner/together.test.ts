/** Scenarios of one run beside each other: what passes from one to another, and what must not. */
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { TAKEN } from './scripted-steps.ts'
import { expectRows, type RowsReport, runRows } from './table.ts'

const notesIn = ({ journal }: RowsReport, name: string) =>
  journal.map(({ entry }) => entry).filter(entry => entry?.note === name)

it('a check records its observation only when it has changed', async () => {
  const list = '[{ after: 100, message: { message: Hi } }, { typing_start: {} }]'
  const calls = `- agent: { does: calls, with: { list: ${list} } }\n`
  const steps = `${TAKEN}${calls}- check: { typing: true }\n- expect: message\n- expect: typing_start`
  const report = await runRows(await startScriptedIntermediary(), { one: steps })
  expect(notesIn(report, 'observed').map(entry => entry?.typing)).toEqual([false, true])
})

it('the reason of an availability step is the reason of the platform', async () => {
  const steps = '- availability: { availability: CLOSED, reason: OTHER }\n- check: { availability: CLOSED }'
  const report = await runRows(await startScriptedIntermediary(), { one: steps })
  expect(notesIn(report, 'availability')).toMatchObject([{ availability: 'CLOSED', reason: 'OTHER', by: 'workspace' }])
})

it('each scenario has its own limit of the body size', async () => {
  const calls = `- agent: { does: calls, with: { list: [{ message: { message: ${'x'.repeat(4_000)} } }, { typing_stop: {} }] } }\n`
  const wide = `${TAKEN}${calls}- expect: message\n- expect: typing_stop`
  const rows = {
    wide: { head: 'config: { limits.body: 100000 }', steps: wide },
    narrow: { steps: `${TAKEN}${calls}- expect: typing_stop`, is: /^contract: .* refused #\d+ .* with 413/ },
  }
  await expectRows(await startScriptedIntermediary(), rows, { flags: ['--set', 'limits.body=2000'] })
})
