/** What an assumption rests on: evidence of the user in the config file, and what changes with it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { EVIDENCE_READERS } from '../../src/evaluation/calibration/evidence-readers.ts'
import { createSimulator } from '../../src/index.ts'
import { ASSUMPTIONS } from '../../src/platform/contract/assumptions.ts'
import { certifyExample } from '../certifier/target.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { post } from '../knobs/support.ts'

const SEEN = { count: 12, date: '2026-07-01', file: 'traffic.jsonl' }
const EVIDENCE = { 'typing.response': { ...SEEN, value: 'event' }, 'typing.idle': SEEN }

describe('the table', () => {
  test('has a row for each assumption that traffic shows, and for no other', () => {
    const rows = ASSUMPTIONS.filter(({ name }) => name in EVIDENCE_READERS).map(({ name }) => name)
    expect(rows).toEqual(ASSUMPTIONS.filter(({ class: shown }) => shown !== 'never').map(({ name }) => name))
  })

  test('says what a person does to see an assumption exactly when that is needed', () => {
    const planned = ASSUMPTIONS.filter(({ name }) => EVIDENCE_READERS[name]?.experiment !== undefined)
    expect(planned.map(({ name, class: shown }) => [name, shown])).toEqual(
      ASSUMPTIONS.filter(({ class: shown }) => shown === 'provoked').map(({ name, class: shown }) => [name, shown]),
    )
  })
})

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
      const io = fakeIo(folderWith({ 'handover-sim.config.yaml': config }))
      const ended = main(['start', '--port', '0'], {}, io)
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(await io.stdout.until(/\n/))!
      const send = (path: string, body: object) =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer sim-handover-key' },
          body: JSON.stringify(body),
        })
      const { chat_id } = (await (await send('/_sim/chats', {})).json()) as { chat_id: string }
      await send('/api/v2/handover/typing_stop', { bot_id: 1042, chat_id })
      await io.stderr.until(/answer 200/)
      io.signal('SIGTERM')
      await ended
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
    expect(old.stderr.text).toBe(
      'The evidence for 2 behaviours is older than 30 days (the oldest of 2020-01-01, traffic.jsonl): record the platform again, and run npx handover-sim calibrate.\n',
    )
    writeFileSync(join(folder, 'handover-sim.config.yaml'), CONFIG.replaceAll('2026-07-01', today))
    const fresh = fakeIo(folder)
    await main(['config'], {}, fresh)
    expect(fresh.stderr.text).toBe('')
  })

  test('is not varied by certify, whose report names the tiers', async () => {
    const folder = folderWith({
      'own.yaml': `evidence:\n  webhook.json: ${JSON.stringify({ ...SEEN, value: 'compact' })}\n`,
    })
    const tiers: unknown[] = []
    for (const flags of [[], ['--config', join(folder, 'own.yaml')]]) {
      const rotated = new Set<string>()
      for (const seed of ['1', '2', '3']) {
        const certificate = await certifyExample(null, '--only', 'SIG-01', '--seed', seed, ...flags)
        for (const name of Object.keys(certificate.checks[0]!.rotated)) rotated.add(name)
        if (seed === '1')
          tiers.push((certificate as unknown as { tiers: Record<string, string> }).tiers['webhook.json'])
      }
      expect(rotated.has('webhook.json')).toBe(flags.length === 0)
    }
    expect(tiers).toEqual(['assumed', 'seen'])
  })
})
