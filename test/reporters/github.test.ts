import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunReport } from '../../src/evaluation/evaluator/wording/report.ts'
import {
  githubAnnotations as annotationsOf,
  markdownReport,
  withoutCommands,
} from '../../src/pages/reporters/github.ts'
import { reportOfRun } from '../../src/pages/reporters/report-model.ts'
import { anyText, hostileResult } from './hostile.ts'
import { failure, result, scenarioResult } from './run-results.ts'
import { escapedPlay, openResult, passedResult, unreachableResult } from './samples.ts'

const githubAnnotations = (run: RunReport, fileOf?: (file: string) => string): string =>
  annotationsOf(reportOfRun(run), fileOf)
const githubSummary = (run: RunReport): string => markdownReport(reportOfRun(run))

/** As a runner takes a command apart. */
function readCommand(line: string) {
  const [, name, properties, data] = /^::(\w+)(?: ([^:]*(?:%3A[^:]*)*))?::(.*)$/.exec(line)!
  const back = (text: string) =>
    text
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%3A', ':')
      .replaceAll('%2C', ',')
      .replaceAll('%25', '%')
  const pairs = (properties ?? '')
    .split(',')
    .filter(Boolean)
    .map(pair => pair.split(/=(.*)/s).slice(0, 2))
  return { name: name!, message: back(data!), ...Object.fromEntries(pairs.map(([key, value]) => [key, back(value!)])) }
}

const commands = (text: string) => text.split('\n').filter(Boolean).map(readCommand)

describe('annotations', () => {
  it('name a shipped scenario in the title, and no file', () => {
    const file = 'builtin:closed-hours.yaml'
    const place = { file, line: 10, column: 5 }
    const failed = scenarioResult({ name: 'Closed hours', file, place, outcome: 'fail', failures: [failure({})] })
    const [annotation] = commands(githubAnnotations(result([failed])))
    expect(annotation).toMatchObject({ title: 'FAIL builtin:closed-hours.yaml > Closed hours' })
    expect(Object.keys(annotation!)).toEqual(['name', 'message', 'title'])
  })

  it('mark the failed step of each failed scenario', () => {
    expect(
      commands(githubAnnotations(result([passedResult(), escapedPlay(), openResult(), unreachableResult()]))),
    ).toEqual([
      {
        name: 'error',
        file: 'scenarios/happy.yaml',
        line: '19',
        col: '5',
        title: 'FAIL Happy path',
        message: [
          `step 7: nearest: #12, message differs (only HTML escaping)`,
          'hint: send the text as it is; the platform does the escaping',
          'rerun: npx handover-sim run scenarios/happy.yaml --seed 1',
        ].join('\n'),
      },
      {
        name: 'error',
        file: 'scenarios/desk.yaml',
        line: '2',
        col: '1',
        title: 'ERROR No desk',
        message: 'the help desk is not there: connection refused at 127.0.0.1:3100',
      },
    ])
  })

  it('are at most ten, and the last counts the others', () => {
    const lines = commands(
      githubAnnotations(result(Array.from({ length: 12 }, escapedPlay), { failures: [failure({})] })),
    )
    expect(lines.map(({ name }) => name)).toEqual([...Array(10).fill('error'), 'notice'])
    expect(lines[0]).toMatchObject({ title: 'FAIL outside every scenario' })
    expect(lines.at(-1)!.message).toMatch(/^3 more/)
  })

  it('count failures of a scenario, and have paths of the repository', () => {
    const play = scenarioResult({ outcome: 'fail', failures: [failure({}), failure({}), failure({})] })
    const [line] = commands(githubAnnotations(result([play]), file => `packages/desk/${file}`))
    expect(line).toMatchObject({ file: 'packages/desk/scenarios/happy.yaml', line: '2' })
    expect(line!.message).toContain('and 2 more')
  })

  it('escape separators in names', () => {
    const name = 'Ask, answer: 100%, line=3'
    const [line] = commands(githubAnnotations(result([{ ...escapedPlay(), name }])))
    expect(line).toMatchObject({ title: `FAIL ${name}`, line: '19' })
  })

  it('are absent when all scenarios passed', () => {
    expect(githubAnnotations(result([passedResult()]))).toBe('')
  })

  it('escape text that would end a line or a property, or begin a command', () => {
    fc.assert(
      fc.property(anyText, text => {
        const lines = githubAnnotations(
          result([hostileResult(text)], { failures: [failure({ happened: text })] }),
        ).split('\n')
        expect(lines.pop()).toBe('')
        expect(lines).toHaveLength(2)
        for (const line of lines) {
          expect(line).not.toMatch(/[\r\u2028\u2029\u0085]/)
          expect(line.slice(0, line.indexOf('::', 2)).split(',').length).toBeLessThanOrEqual(4)
          expect(readCommand(line).name).toBe('error')
        }
      }),
    )
  })
})

describe('the summary', () => {
  it('is one line when all scenarios passed', () => {
    expect(githubSummary(result([passedResult()]))).toBe('## handover-sim: 1 scenario in 7.0 s: 1 passed\n')
  })

  it('has a row for each scenario that did not pass, failures first, with timelines', () => {
    const lines = githubSummary(result([openResult(), passedResult(), escapedPlay()])).split('\n')
    expect(lines.slice(0, 6)).toEqual([
      '## handover-sim: 3 scenarios in 7.0 s: 1 passed, 1 failed, 1 inconclusive',
      '',
      '|  | Scenario | Time | What happened |',
      '| --- | --- | --- | --- |',
      `| FAIL | scenarios/happy.yaml &gt; Happy path | 6.4 s | step 7: nearest: &#35;12, message differs (only HTML escaping) |`,
      '| INCONCLUSIVE | scenarios/agent.yaml &gt; With an agent | 30 ms | the agent driver has no verb "transfer" |',
    ])
    expect(lines).toContain('<details><summary>FAIL scenarios/happy.yaml &gt; Happy path</summary>')
  })

  it('has four cells per row and no foreign tag, for any texts', () => {
    fc.assert(
      fc.property(anyText, text => {
        const summary = githubSummary(result([hostileResult(text)], { stopped: text }))
        const rows = summary.split('\n').filter(line => line.startsWith('| FAIL'))
        expect(rows).toHaveLength(1)
        expect(rows[0]!.match(/(?<!\\)\|/g)).toHaveLength(5)
        expect(summary.match(/<[^>]*>/g)!.sort()).toEqual(
          ['<details>', '<summary>', '</summary>', '<pre>', '</pre>', '</details>'].sort(),
        )
      }),
    )
  })

  it('stays below the size limit of GitHub', () => {
    const many = Array.from({ length: 3000 }, escapedPlay)
    expect(Buffer.byteLength(githubSummary(result(many)))).toBeLessThan(500_000)
  })
})

it('the log contains no workflow command of untrusted text', () => {
  const log = withoutCommands('  ::error::x\n::stop-commands::y\nas it ::was\n##[add-mask]z\n')
  expect(log).toBe('  .::error::x\n.::stop-commands::y\nas it ::was\n# #[add-mask]z\n')
})

it('the summary has the causes that several scenarios share', () => {
  const causes = [{ code: 'repeated', text: '`end` is called twice', scenarios: [0, 1] }] as const
  const summary = githubSummary(result([escapedPlay(), escapedPlay()], { causes }))
  expect(summary).toContain('\n**One cause in 2 scenarios:** &#96;end&#96; is called twice\n')
})
