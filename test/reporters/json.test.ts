import { describe, expect, it } from 'vitest'
import { jsonReport } from '../../src/pages/reporters/json.ts'
import { read } from '../architecture/files.ts'
import { inlineCode, rows, section } from '../docs/pages.ts'
import { HOSTILE, hostileResult } from './hostile.ts'
import { failure, result } from './run-results.ts'
import { escapedPlay, openResult, passedResult } from './samples.ts'

type Fields = Record<string, unknown>
const parsed = JSON.parse(
  jsonReport(result([passedResult(), escapedPlay(), openResult()], { failures: [failure({})] })),
) as Fields
const scenarios = parsed.scenarios as Fields[]

describe('json', () => {
  it('is one line with its type and version', () => {
    const text = jsonReport(result([escapedPlay()]))
    expect(text.indexOf('\n')).toBe(text.length - 1)
    expect(parsed).toMatchObject({
      v: 2,
      type: 'run',
      exit_code: 1,
      counts: { pass: 1, fail: 1, error: 0, inconclusive: 1, skipped: 0 },
      stopped: null,
    })
  })

  it('has the failures of a scenario with the nearest calls', () => {
    const [failed] = scenarios[1]!.failures as Fields[]
    expect(failed).toMatchObject({
      kind: 'expect',
      happened: 'nearest: #12, message differs (only HTML escaping)',
      conversation: 'main',
      rules: ['E6'],
      entry_seqs: [12],
      step: { number: 7, file: 'scenarios/happy.yaml', line: 19, column: 5 },
    })
    expect((failed!.nearest as Fields[])[0]).toEqual({
      seq: 12,
      what: 'POST /api/v2/handover/message/',
      after_ms: 840,
      codes: [],
      why: '1 field differs',
      differences: [
        {
          path: 'message',
          expected: `"I'm Anna"`,
          received: '"I&#39;m Anna"',
          hint: 'only HTML escaping differs',
          code: null,
        },
      ],
    })
  })

  it('omits the journals, and has the reason of an inconclusive result', () => {
    expect(jsonReport(result([escapedPlay()]))).not.toContain('"journal"')
    expect(scenarios[2]).toMatchObject({ outcome: 'inconclusive', reason: 'the agent driver has no verb "transfer"' })
  })

  it('preserves all texts', () => {
    for (const text of HOSTILE) {
      const [play] = (JSON.parse(jsonReport(result([hostileResult(text)]))) as { scenarios: Fields[] }).scenarios
      expect(play!.name).toBe(text)
    }
  })

  it('has exactly the documented fields', () => {
    const page = rows(section(read('docs/reference/reports.md'), 'json'))
    const listed = (of: string) => page.filter(([where]) => where === of).flatMap(([, fields]) => inlineCode(fields!))
    const failed = (scenarios[1]!.failures as Fields[])[0]!
    const parts: Record<string, Fields> = {
      run: parsed,
      scenario: scenarios[1]!,
      failure: failed,
      nearest: (failed.nearest as Fields[])[0]!,
      warning: (scenarios[1]!.warnings as Fields[])[0]!,
      step: (scenarios[1]!.steps as Fields[])[0]!,
    }
    for (const [of, fields] of Object.entries(parts)) expect(listed(of).sort(), of).toEqual(Object.keys(fields).sort())
  })
})
