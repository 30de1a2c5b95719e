import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { saveText } from '../../src/base/files/user-files.ts'
import { createRedactor } from '../../src/base/text/redactor.ts'
import { writeReports } from '../../src/commands/write-reports.ts'
import type { RunResult } from '../../src/evaluation/evaluator/verdict.ts'
import { jsonReport } from '../../src/pages/reporters/json.ts'
import { prettyReport } from '../../src/pages/reporters/pretty.ts'
import { parseReports, RUN_REPORTS } from '../../src/pages/reporters/report-option.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { failure, result, scenarioResult } from './run-results.ts'
import { escapedPlay, passedResult } from './samples.ts'

const RESULT = result([passedResult(), escapedPlay()])

interface Given {
  readonly cwd?: string
  readonly env?: Record<string, string>
  readonly colorLevel?: 0 | 1
  readonly run?: RunResult
  readonly columns?: number
}

async function write(flag: string, given: Given = {}) {
  const { cwd = folderWith(), env = {}, colorLevel = 0, run = RESULT, columns } = given
  const io = { stdout: Object.assign(fakeOutput(), { columns }), stderr: fakeOutput(), cwd }
  const problems = await writeReports(createRedactor().redactDeep(run), parseReports(flag, RUN_REPORTS, env), {
    io,
    env,
    colorLevel,
  })
  return { cwd, problems, stdout: io.stdout.text, stderr: io.stderr.text }
}

/** Each name is taken by what the report cannot replace. */
const withTaken = () => folderWith({ file: 'x', taken: null })

describe('writing reports', () => {
  it.each([0, 1] as const)('writes to stdout with colour level %i, and to files without colours', async colorLevel => {
    const flag = 'pretty=out/deep/log.txt,junit=out/junit.xml,journal=out/run.jsonl,json'
    const { cwd, stdout, stderr, problems } = await write(flag, { colorLevel })
    expect([stdout, problems]).toEqual([jsonReport(RESULT), []])
    expect(stderr).toMatch(/^pretty report: out\/deep\/log\.txt\njunit report: out\/junit\.xml\n/)
    expect(readFileSync(join(cwd, 'out/deep/log.txt'), 'utf8')).toBe(prettyReport(RESULT, { colorLevel: 0 }))
    expect(readdirSync(join(cwd, 'out')).sort()).toEqual(['deep', 'junit.xml', 'run.jsonl'])
    expect((await write('', { colorLevel })).stdout).toBe(prettyReport(RESULT, { colorLevel }))
    const journal = readFileSync(join(cwd, 'out/run.jsonl'), 'utf8')
    expect(journal.match(/"type":"scenario"/g)).toHaveLength(2)
    expect(journal.match(/"type":"entry"/g)).toHaveLength(escapedPlay().journal.length)
  })

  it('reports a file that cannot be written, and writes the others', async () => {
    const cwd = withTaken()
    const { problems, stderr, stdout } = await write('json=taken,junit=file/a.xml,tap=ok.tap', { cwd })
    expect(problems).toEqual([
      'the json report taken could not be written: it is a folder',
      'the junit report file/a.xml could not be written: part of the path is a file',
    ])
    expect(stderr).toContain(`${problems[0]}\n${problems[1]}\n`)
    expect(stdout).toContain('1 failed')
    expect(readdirSync(cwd).sort()).toEqual(['file', 'ok.tap', 'taken'])
    if (!existsSync('/proc/self')) return
    const { problems: others } = await write('tap=/proc/none/of/these/r.tap')
    expect(others).toEqual([expect.stringMatching(/ a folder of the path cannot be created$/)])
  })

  it('prints the exit code of a passed run without its report', async () => {
    const run = { ...result([passedResult()]), exitCode: 0 }
    const { stdout, stderr } = await write('pretty,json=taken,tap=ok.tap', { run, cwd: withTaken() })
    expect(stdout).toContain('exit 3: the environment failed')
    expect(stderr).toMatch(/^tap report: ok\.tap\nthe json report .* could not be written/)
    expect((await write('pretty,tap=ok.tap', { run })).stdout).toContain('exit 0: passed')
  })

  it.each(['60', '', 'wide', '0'])('COLUMNS=%s on a terminal of 90 columns', async COLUMNS => {
    const { stdout } = await write('pretty', { env: { COLUMNS }, columns: 90 })
    expect(stdout).toBe(prettyReport(RESULT, { colorLevel: 0, columns: COLUMNS === '60' ? 60 : 90 }))
  })

  it('replaces an older report, also through a link', async () => {
    const cwd = folderWith({ 'real.json': 'old' })
    symlinkSync('real.json', join(cwd, 'link.json'))
    await write('json=link.json', { cwd })
    expect(readFileSync(join(cwd, 'real.json'), 'utf8')).toBe(jsonReport(RESULT))
    expect(readdirSync(cwd)).toHaveLength(2)
  })

  it('preserves the older file when rendering fails', () => {
    const cwd = folderWith({ 'run.jsonl': 'old' })
    function* broken() {
      yield 'new\n'
      throw new Error('no more')
    }
    expect(() => saveText(join(cwd, 'run.jsonl'), broken())).toThrow('no more')
    expect(readFileSync(join(cwd, 'run.jsonl'), 'utf8')).toBe('old')
    expect(readdirSync(cwd)).toEqual(['run.jsonl'])
  })

  it('does not replace devices and pipes', async () => {
    const cwd = folderWith()
    const socket = createServer().listen(join(cwd, 'socket'))
    onTestFinished(() => void socket.close())
    await once(socket, 'listening')
    const { problems } = await write('json=socket', { cwd })
    expect(problems).toEqual([expect.stringContaining('the json report socket could not be written')])
    expect(statSync(join(cwd, 'socket')).isSocket()).toBe(true)
  })
})

describe("in GitHub's workflows", () => {
  it('annotations go to stderr, and the table is appended to the summary', async () => {
    const cwd = folderWith({ 'summary.md': 'before\n' })
    const summary = join(cwd, 'summary.md')
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: join(cwd, '..') }
    const { stderr, stdout } = await write('json', { cwd, env })
    const root = cwd.split('/').at(-1)
    expect(stderr).toMatch(new RegExp(`^::error file=${root}/scenarios/happy\\.yaml,line=19,`))
    expect(readFileSync(summary, 'utf8')).toMatch(/^before\n## handover-sim: 2 scenarios/)
    expect(stdout).toBe(jsonReport(RESULT))
  })

  it('text of the intermediary is no workflow command', async () => {
    const happened = `${'x'.repeat(95)} ::stop-commands::forged ${'y'.repeat(60)}`
    const run = result([scenarioResult({ outcome: 'fail', failures: [failure({ happened })] })])
    expect((await write('', { run })).stdout).toMatch(/^ +::stop-commands::forged/m)
    expect((await write('', { run, env: { GITHUB_ACTIONS: 'true' } })).stdout).not.toMatch(/^\s*::/m)
  })

  it('other reports are written when the summary cannot be', async () => {
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: '/nowhere/summary.md' }
    const { problems, stderr, stdout } = await write('', { env })
    expect(problems).toEqual([expect.stringMatching(/^the github report could not be written: .*ENOENT/)])
    expect(stderr).toContain('::error ')
    expect(stdout).toContain('FAIL scenarios/happy.yaml')
  })
})
