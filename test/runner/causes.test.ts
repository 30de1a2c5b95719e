/** Failures of several scenarios with one cause are gathered at the end of the reports. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { describeRun } from '../../src/evaluation/evaluator/wording/report.ts'
import { call, finished, inFolder, startRun, startTarget } from './targets.ts'

const scenario = (name: string, steps: string) =>
  `version: 1\nname: ${name}\ntimeouts: { expect: 30s, settle: 50ms }\nsteps:\n${steps}`

const ACCEPTED = '  - press: handover\n  - expect: start\n'

/** Its steps differ, and the one that fails has other numbers. */
const FILES = {
  'a.yaml': scenario('Ada', ACCEPTED),
  'b.yaml': scenario('Bo', `  - log: begin\n${ACCEPTED}`),
  'c.yaml': scenario('Cy', '  - press: handover\n  - expect: { start: {}, times: { min: 1, max: 1 }}\n'),
  'e.yaml': scenario('Ed', `  - press: handover\n  - expect: { start: {}, times: { min: 2, max: 2 } }\n`),
  'f.yaml': scenario('Flo', '  - press: handover\n  - agent: accept\n  - expect: start\n'),
  'g.yaml': scenario('Gus', '  - press: handover\n  - agent: leave\n  - expect: end\n'),
}

/** Calls `start` twice for every request, and then answers it. */
const hasty = () =>
  startTarget(async (_, response, body) => {
    const { event, chat, bot } = body as unknown as {
      event: string
      chat: { id: string; _links: { self: string } }
      bot: { id: number }
    }
    for (let count = event === 'REQUESTING TAKEOVER' ? 2 : 0; count > 0; count--)
      await call(new URL(chat._links.self).origin, 'start', { bot_id: bot.id, chat_id: chat.id })
    response.end()
  })

async function runFiles() {
  const reports = 'pretty,json=r.json,html=r.html'
  const argv = ['.', '--target', (await hasty()).url, '--port', '0', '--report', reports]
  const { folder, out } = await finished(startRun(FILES, argv))
  const read = (name: string) => readFileSync(inFolder(folder, name), 'utf8')
  return { out, read, json: JSON.parse(read('r.json')) as Reported }
}

interface Reported {
  readonly causes: readonly { code: string; cause: string; hint: string | null; scenarios: readonly number[] }[]
  readonly scenarios: readonly { readonly name: string }[]
}

describe('causes of several scenarios', () => {
  it('are in all reports, with their scenarios', async () => {
    const { out, read, json } = await runFiles()
    // In the terminal they come before the scenarios.
    expect(out.indexOf('Causes')).toBeLessThan(out.indexOf('FAIL'))
    expect(out).toContain(
      'Causes\n' +
        '  one cause in 3 scenarios: `start` is called twice\n    Ada; Bo; Cy\n' +
        '  one cause in 2 scenarios: a step needs an agent driver, and there is none (--agent-driver FILE)\n    Flo; Gus\n',
    )
    const named = json.causes.map(({ code, scenarios }) => [code, scenarios.map(index => json.scenarios[index]!.name)])
    expect(named).toEqual([
      ['repeated', ['Ada', 'Bo', 'Cy']],
      ['no_driver', ['Flo', 'Gus']],
    ])
    expect(read('r.html')).toMatch(
      /<h2 id="causes-title">Causes<\/h2>[\s\S]*<code>start<\/code> is called twice[\s\S]*href="#ada"/,
    )
  })

  it('show the details of two scenarios, and the first failure of the others', async () => {
    const { out } = await runFiles()
    const [, ada = '', bo = '', cy = ''] =
      /(FAIL a\.yaml[\s\S]*)(FAIL b\.yaml[\s\S]*)(FAIL c\.yaml[\s\S]*)\nSlowest/.exec(out)!
    for (const block of [ada, bo]) expect(block).toContain('user / agent')
    expect(cy).toMatch(
      /^FAIL c\.yaml > Cy .*\n {2}x step 2: start was called twice, expected exactly once: .*\n {4}c\.yaml:6:5 .*\n {2}the same cause as in Ada: details are in the json and html reports\n {2}rerun: npx handover-sim run c\.yaml .*\n/,
    )
  })

  it('join failures whose codes are equal and whose entries differ', () => {
    const first = { kind: 'times', step: null, conversation: null, rules: [], nearest: [], entrySeqs: [], soft: false }
    const times = { min: 1, max: 1 }
    const requirement = { call: 'start', body: null, times, apartMs: null, alias: null, auth: 'valid' }
    const failing = [1, 2].map(seq => ({
      outcome: 'fail',
      reason: null,
      warnings: [],
      failures: [
        {
          ...first,
          expected: { code: 'known_path' },
          happened: { code: 'too_many_calls', requirement, seqs: [seq, seq + 1], seq, after: { seq, ms: seq * 7 } },
        },
      ],
    }))
    const { causes } = describeRun({ scenarios: failing, failures: [] } as never)
    expect(causes.map(({ scenarios: indexes }) => indexes)).toEqual([[0, 1]])
  })
})
