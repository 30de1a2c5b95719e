/** What an assumption rests on: evidence of the user in the config file, and what changes with it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { createSimulator } from '../../src/index.ts'
import { fakeIo, started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { post } from '../knobs/support.ts'

const SEEN = { count: 12, date: '2026-07-01', file: 'traffic.jsonl' }
const EVIDENCE = { 'typing.response': { ...SEEN, value: 'event' }, 'typing.idle': SEEN }

describe('evidence', () => {
  const marks = async (knobs: object) => {
    await using sim = createSimulator({ knobs, evidence: EVIDENCE })
    const reply = await post(sim, 'typing_stop', await sim.chat())
    const { unspecified } = sim.journal.query({ kind: 'api' })[0]!
    return {
      header: reply.headers.get('x-handover-sim-unspecified'),
      journal: Object.keys(unspecified),
      assumptions: sim.assumptions(),
    }
  }

  test('leaves the assumptions that it confirms out of the header, and the journal names them', async () => {
    const { header, journal, assumptions } = await marks({ 'typing.response': 'event' })
    expect(header).toBeNull()
    expect(journal.sort()).toEqual(['typing.idle', 'typing.response'])
    expect(assumptions.find(({ name }) => name === 'typing.response')).toMatchObject({
      class: 'ordinary',
      tier: 'seen',
      evidence: { ...SEEN, value: 'event' },
    })
    expect(assumptions.find(({ name }) => name === 'webhook.signature')).toMatchObject({
      tier: 'documented',
      evidence: null,
    })
  })

  test('of another value than that in force confirms nothing', async () => {
    const { header, assumptions } = await marks({})
    expect(header).toBe('typing.response')
    expect(assumptions.find(({ name }) => name === 'typing.response')?.tier).toBe('assumed')
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

  test('is checked: names, values and dates', async () => {
    const evidence = {
      'typing.respons': SEEN,
      'start.again': { ...SEEN, value: 'maybe' },
      'time.format': { value: 'iso', count: 1, date: 'today', file: 'x' },
    }
    const io = fakeIo(folderWith({ 'handover-sim.config.yaml': `evidence: ${JSON.stringify(evidence)}\n` }))
    expect(await main(['config'], {}, io)).toBe(2)
    for (const text of ['typing.respons', 'accept | 409', 'evidence.time.format.date'])
      expect(io.stderr.text).toContain(text)
  })

  test('of more than 30 days ago is named as old', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const folder = folderWith({ 'handover-sim.config.yaml': CONFIG.replaceAll('2026-07-01', '2020-01-01') })
    const old = fakeIo(folder)
    await main(['config'], {}, old)
    expect(old.stderr.text).toMatch(/^The evidence for 2 behaviours is older than 30 days \(the oldest of 2020-01-01/)
    writeFileSync(join(folder, 'handover-sim.config.yaml'), CONFIG.replaceAll('2026-07-01', today))
    const fresh = fakeIo(folder)
    await main(['config'], {}, fresh)
    expect(fresh.stderr.text).toBe('')
  })
})
