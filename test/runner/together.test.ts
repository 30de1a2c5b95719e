/** Scenarios of one run beside each other: what passes from one to another, and what must not. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startScriptedIntermediary } from './scripted-intermediary.ts'
import { expectRows, type Row, type RowsReport, runRows } from './table.ts'
import { call, finished, inFolder, startRun, startTarget } from './targets.ts'

const TAKEN = '- press: handover\n- agent: accept\n- expect: { start: {}, capture: { id: response.chatmessage_id } }\n'

it('ids of messages depend on the scenario only, and differ in every repetition', async () => {
  const rows: Record<string, Row> = {
    ada: { steps: TAKEN, is: 'pass' },
    bo: { steps: TAKEN, is: 'pass' },
  }
  const idsOf = async (only: string[], ...flags: string[]) => {
    const chosen = Object.fromEntries(only.map(name => [name, rows[name]!]))
    const { scenarios } = await runRows(await startScriptedIntermediary(), chosen, { flags: ['--seed', '1', ...flags] })
    return scenarios.map(({ captures }) => String(captures.id))
  }
  const [ada, bo] = await idsOf(['ada', 'bo'])
  expect(await idsOf(['bo'])).toEqual([bo])
  const [first, second] = await idsOf(['ada'], '--repeat', '2')
  expect(first).toBe(ada)
  expect(new Set([ada, bo, second]).size).toBe(3)
})

it('a pending answer is awaited at the end', async () => {
  const answers = '- agent: { does: answers, with: { list: [{ after: 200 }] } }\n'
  const steps = `${TAKEN}${answers}- user: { text: Hi, async: true }`
  await expectRows(await startScriptedIntermediary(), { slow: { steps, is: 'pass' } })
})

const notesIn = ({ journal }: RowsReport, name: string) =>
  journal.map(({ entry }) => entry).filter(entry => entry?.note === name)

it('a check records its observation only when it has changed', async () => {
  const list = '[{ after: 100, message: { message: Hi } }, { typing_start: {} }]'
  const calls = `- agent: { does: calls, with: { list: ${list} } }\n`
  const steps = `${TAKEN}${calls}- check: { typing: true }\n- expect: message\n- expect: typing_start`
  const report = await runRows(await startScriptedIntermediary(), { one: { steps, is: 'pass' } })
  expect(notesIn(report, 'observed').map(entry => entry?.typing)).toEqual([false, true])
})

it('the reason of an availability step is the reason of the platform', async () => {
  const steps = '- availability: { availability: CLOSED, reason: OTHER }\n- check: { availability: CLOSED }'
  const report = await runRows(await startScriptedIntermediary(), { one: { steps, is: 'pass' } })
  expect(notesIn(report, 'availability')).toMatchObject([{ availability: 'CLOSED', reason: 'OTHER', by: 'workspace' }])
})

it('each scenario has its own limit of the body size', async () => {
  const calls = `- agent: { does: calls, with: { list: [{ message: { message: ${'x'.repeat(4_000)} } }, { typing_stop: {} }] } }\n`
  const rows: Record<string, Row> = {
    wide: {
      head: 'config: { limits.body: 100000 }',
      steps: `${TAKEN}${calls}- expect: message\n- expect: typing_stop`,
      is: 'pass',
    },
    narrow: {
      steps: `${TAKEN}${calls}- expect: typing_stop`,
      is: /^contract: .*platform refused #\d+ .* with 413/,
    },
  }
  await expectRows(await startScriptedIntermediary(), rows, { flags: ['--set', 'limits.body=2000'] })
})

interface Body {
  readonly event: string
  readonly chat: { readonly id: string; readonly _links: { readonly self: string } }
  readonly message?: string
}

it('the text of a user in another scenario is a leak, which fails the run', async () => {
  const chats: string[] = []
  const sender = { name: 'Anna', avatar: 'https://desk.example.test/a.png' }
  const target = await startTarget(async (_, response, body) => {
    const { event, chat, message } = body as unknown as Body
    response.end()
    if (event === 'REQUESTING TAKEOVER') {
      chats.push(chat.id)
      return void call(new URL(chat._links.self).origin, 'start', { bot_id: 1042, chat_id: chat.id, sender })
    }
    if (message === undefined) return
    await expect.poll(() => chats.length).toBe(2)
    const other = chats.find(id => id !== chat.id)
    void call(new URL(chat._links.self).origin, 'message/', { bot_id: 1042, chat_id: other, message, sender })
  })
  const scenario = (name: string, steps: string) =>
    `version: 1\nname: ${name}\ntimeouts: { expect: 30s, settle: 50ms }\nsteps:\n  - press: handover\n  - expect: start\n${steps}`
  const files = {
    'ada.yaml': scenario('Ada', '  - user: My card has the number 4929\n'),
    'bo.yaml': scenario('Bo', '  - expect: { message: {}, since: asked }\n').replace(
      '- press: handover',
      '- { press: handover, id: asked }',
    ),
  }
  const argv = ['.', '--target', target.url, '--port', '0', '--report', 'json=r.json']
  const { code, folder } = await finished(startRun(files, argv))
  const report = JSON.parse(readFileSync(inFolder(folder, 'r.json'), 'utf8')) as {
    scenarios: { outcome: string }[]
    failures: { kind: string; expected: string; happened: string }[]
  }
  expect(report.scenarios.map(({ outcome }) => outcome)).toEqual(['pass', 'pass'])
  expect(report.failures.map(({ kind, happened }) => `${kind}: ${happened}`)).toEqual([
    expect.stringMatching(/^leak: .*chat "main" of "Bo".*My card has the number 4929/),
  ])
  expect(code).toBe(1)
})
