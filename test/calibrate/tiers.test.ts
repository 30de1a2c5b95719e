/** What an assumption rests on: evidence of the user in the config file, and what changes with it. */
import { describe, expect, test } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { createSimulator } from '../../src/index.ts'
import { fakeIo, started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { post } from '../support/test-simulator.ts'

const SEEN = { count: 12, date: '2026-07-01', file: 'traffic.jsonl' }
const EVIDENCE = { 'typing.response': { ...SEEN, value: 'event' }, 'typing.idle': SEEN }

describe('evidence', () => {
  /** What a call shows of assumptions, and what one of them rests on. */
  const shown = async (knobs: object) => {
    await using sim = createSimulator({ knobs, evidence: EVIDENCE })
    const { headers } = await post(sim, 'typing_stop', await sim.chat())
    return {
      header: headers.get('x-handover-sim-unspecified'),
      journal: Object.keys(sim.journal.query({ kind: 'api' })[0]!.unspecified).sort(),
      assumption: sim.assumptions().find(({ name }) => name === 'typing.response'),
    }
  }

  test('leaves the assumptions that it confirms out of the header, and the journal names them', async () => {
    expect(await shown({ 'typing.response': 'event' })).toMatchObject({
      header: null,
      journal: ['typing.idle', 'typing.response'],
      assumption: { class: 'ordinary', tier: 'seen', evidence: { ...SEEN, value: 'event' } },
    })
  })

  test('of another value than that in force confirms nothing', async () => {
    expect(await shown({})).toMatchObject({ header: 'typing.response', assumption: { tier: 'assumed' } })
  })

  const CONFIG = `knobs:\n  typing.response: event\nevidence: ${JSON.stringify(EVIDENCE)}\n`

  test('leaves them out of the log', async () => {
    const logOf = async (config: string) => {
      const { io, url, stop } = await started([], {}, fakeIo(folderWith({ 'handover-sim.config.yaml': config })))
      const send = (path: string, body: object) => {
        const headers = { 'content-type': 'application/json', authorization: 'Bearer sim-handover-key' }
        return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      }
      const { chat_id } = (await (await send('/_sim/chats', {})).json()) as { chat_id: string }
      await send('/api/v2/handover/typing_stop', { bot_id: 1042, chat_id })
      await io.stderr.until(/answer 200/)
      await stop()
      return io.stderr.text
    }
    expect(await logOf('port: 0\n')).toMatch(/assumed typing\.idle, typing\.response=empty/)
    expect(await logOf(CONFIG)).not.toMatch(/assumed/)
  })

  const checked = async (config: string) => {
    const io = fakeIo(folderWith({ 'handover-sim.config.yaml': config }))
    return { code: await main(['config'], {}, io), text: io.stderr.text }
  }

  test('is checked: names, values and dates', async () => {
    const evidence = {
      'typing.respons': SEEN,
      'start.again': { ...SEEN, value: 'maybe' },
      'time.format': { ...SEEN, value: 'iso', date: 'today' },
    }
    const { code, text } = await checked(`evidence: ${JSON.stringify(evidence)}\n`)
    expect(code).toBe(2)
    for (const part of ['typing.respons', 'accept | 409', 'evidence.time.format.date']) expect(text).toContain(part)
  })

  test('of more than 30 days ago is named as old', async () => {
    const old = await checked(CONFIG.replaceAll('2026-07-01', '2020-01-01'))
    expect(old.text).toMatch(/^The evidence for 2 behaviours is older than 30 days \(the oldest of 2020-01-01/)
    const today = new Date().toISOString().slice(0, 10)
    expect((await checked(CONFIG.replaceAll('2026-07-01', today))).text).toBe('')
  })
})
