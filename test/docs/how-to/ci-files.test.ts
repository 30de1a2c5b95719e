/** Runs the jobs of docs/how-to/github-actions-and-gitlab.md, with a scenario that passes and one that fails. */
import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { exitCodeText } from '../../../src/evaluation/evaluator/wording/outcomes.ts'
import { folderWith } from '../../config/folder.ts'
import { freePort } from '../../support/port.ts'
import { blocks, hasShell, pathOf, read, rows, section } from '../pages.ts'

const PAGE = read('docs/how-to/github-actions-and-gitlab.md')
const [driver = '', workflowText = '', gitlabText = ''] = blocks(PAGE, 'yaml')

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly if?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Workflow {
  readonly on: readonly string[]
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly 'runs-on': string
        readonly needs?: string
        readonly strategy?: { matrix: { shard: number[] } }
        readonly steps: readonly Step[]
      }
    >
  >
}
interface GitlabJob {
  readonly stage: string
  readonly parallel?: number
  readonly script: readonly string[]
  readonly retry?: { readonly exit_codes: readonly number[] }
  readonly artifacts: { readonly paths: readonly string[] }
}
const workflow = parse(workflowText) as Workflow
const {
  stages,
  default: defaults,
  ...gitlab
} = parse(gitlabText) as Record<string, GitlabJob> & {
  stages: string[]
  default: { before_script: string[] }
}

const FAILS = `version: 1
name: Wrong greeting
description: The agent says something else.
steps:
  - press: handover
  - agent: accept
  - expect: start
  - agent: { says: Hello }
  - expect: { message: { message: Good evening }, within: 500ms }
`

/** A project with the example intermediary, the driver of the page and two scenarios, on ports of its own. */
async function project() {
  const folder = folderWith({
    npx: `#!/bin/sh\nshift\nexec '${process.execPath}' '${pathOf('bin/handover-sim.js')}' "$@"\n`,
    'summary.md': '',
    scenarios: null,
  })
  chmodSync(join(folder, 'npx'), 0o755)
  cpSync(pathOf('examples/intermediary'), folder, { recursive: true })
  copyFileSync(pathOf('scenarios/happy-path.yaml'), join(folder, 'scenarios/happy-path.yaml'))
  writeFileSync(join(folder, 'scenarios/wrong-greeting.yaml'), FAILS)
  const [intermediary, simulator] = [await freePort(), await freePort()]
  const local = (text: string) => text.replaceAll('127.0.0.1:3000', `127.0.0.1:${intermediary}`)
  writeFileSync(join(folder, 'driver.yaml'), local(driver))
  const inherited = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, CI: 'true' }
  const settings = { HANDOVER_SIM_PORT: String(simulator), PORT: String(intermediary) }
  const play = (line: string, env: Readonly<Record<string, string>> = {}) =>
    new Promise<{ code: number; stdout: string; stderr: string }>(resolve => {
      const options = { cwd: folder, env: { ...inherited, ...settings, ...env }, timeout: 60_000 }
      execFile('bash', ['--norc', '-euc', local(line)], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      )
    })
  const written = (file: string) => readFileSync(join(folder, file), 'utf8')
  return { folder, play, written }
}

const SHARD = /\$\{\{ matrix\.shard \}\}/g
const commandOf = (lines: readonly (string | undefined)[]) => lines.find(line => line?.startsWith('npx')) ?? ''

describe('the workflow', () => {
  it('has jobs with a runner, steps that use or run something, and artifacts also after a failure', () => {
    const { scenarios, report } = workflow.jobs
    expect(report?.needs).toBe('scenarios')
    for (const job of [scenarios!, report!]) {
      expect(job['runs-on']).toBe('ubuntu-latest')
      for (const { uses, run } of job.steps) expect([uses, run].filter(Boolean)).toHaveLength(1)
      for (const step of job.steps)
        if (step.uses?.startsWith('actions/upload-artifact')) expect(step.if).toBe('always()')
    }
  })

  describe.skipIf(!hasShell)('(needs bash)', () => {
    it('plays both shards, annotates the failure, and joins the reports', { timeout: 120_000 }, async () => {
      const { folder, play, written } = await project()
      const { scenarios, report } = workflow.jobs
      const line = commandOf(scenarios!.steps.map(({ run }) => run))
      const env = {
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: folder,
        GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
      }
      const results = []
      for (const shard of scenarios!.strategy!.matrix.shard)
        results.push(await play(line.replaceAll(SHARD, String(shard)), env))
      expect(results.map(({ code }) => code).sort(), JSON.stringify(results)).toEqual([0, 1])
      expect(results.map(({ stderr }) => stderr).join('')).toMatch(
        /^::error file=scenarios\/wrong-greeting.yaml,line=9/m,
      )
      expect(written('summary.md')).toContain('Wrong greeting')

      const joined = await play(commandOf(report!.steps.map(({ run }) => run)), env)
      expect(joined.code, joined.stderr).toBe(1)
      expect(joined.stderr, 'once for each failure').not.toContain('::error')
      expect(joined.stdout).toMatch(/2 scenarios in .*: 1 passed, 1 failed/)
      expect(written('out/report.html')).toContain('Wrong greeting')
    })
  })
})

describe('the pipeline', () => {
  it('has stages and scripts, keeps its reports, and repeats only what the environment failed', () => {
    expect(Object.values(gitlab).map(({ stage }) => stage)).toEqual(stages)
    expect(defaults.before_script[0]).toMatch(/^npm ci /)
    expect(gitlab.scenarios?.retry?.exit_codes).toEqual([3])
    for (const { artifacts } of Object.values(gitlab)) expect(artifacts.paths[0]).toMatch(/^out\//)
  })

  it.skipIf(!hasShell)('plays every share, and joins the reports (needs bash)', { timeout: 120_000 }, async () => {
    const { play, written } = await project()
    const { scenarios, report } = gitlab
    const codes = []
    for (let index = 1; index <= scenarios!.parallel!; index++) {
      const env = { CI_NODE_INDEX: String(index), CI_NODE_TOTAL: String(scenarios!.parallel), GITLAB_CI: 'true' }
      codes.push((await play(commandOf(scenarios!.script), env)).code)
      expect(written(`out/junit-${index}.xml`)).toContain('<testcase')
    }
    expect(codes.sort()).toEqual([0, 1])
    expect((await play(commandOf(report!.script))).code).toBe(1)
    expect(written('out/report.html')).toContain('Happy path')
  })
})

it('docs/how-to/ci.md has the exit codes of the program', () => {
  const listed = rows(section(read('docs/how-to/ci.md'), 'Exit codes')).slice(1)
  const codes = listed.flatMap(([code = '']) => code.split(', ').map(Number))
  const all = Array.from({ length: 256 }, (_, code) => code)
  expect(codes).toEqual(all.filter(code => exitCodeText(code) !== undefined))
})
