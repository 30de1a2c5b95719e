/** Runs the jobs of docs/how-to/github-actions-and-gitlab.md, with a scenario that passes and one that fails. */
import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../support/port.ts'
import { blocks, hasShell, pathOf, read } from '../pages.ts'
import { createProject } from '../project.ts'

const [driver = '', workflow = '', pipeline = ''] = blocks(read('docs/how-to/github-actions-and-gitlab.md'), 'yaml')

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

/** Makes a project with the example intermediary, the driver of the page and two scenarios. */
async function projectWithScenarios() {
  const [intermediary, simulator] = [await freePort(), await freePort()]
  const local = (text: string) => text.replaceAll('127.0.0.1:3000', `127.0.0.1:${intermediary}`)
  const env = { CI: 'true', HANDOVER_SIM_PORT: String(simulator), PORT: String(intermediary) }
  const { folder, type } = createProject({ 'summary.md': '', scenarios: null }, { env })
  cpSync(pathOf('examples/intermediary'), folder, { recursive: true })
  copyFileSync(pathOf('scenarios/happy-path.yaml'), join(folder, 'scenarios/happy-path.yaml'))
  writeFileSync(join(folder, 'scenarios/wrong-greeting.yaml'), FAILS)
  writeFileSync(join(folder, 'driver.yaml'), local(driver))
  const run = (lines: readonly (string | undefined)[], more: Readonly<Record<string, string>>) =>
    type(local(lines.find(line => line?.startsWith('npx')) ?? ''), more)
  return { folder, run, written: (file: string) => readFileSync(join(folder, file), 'utf8') }
}

it.skipIf(!hasShell)('the workflow runs both shards, annotates the failure, and joins the reports', async () => {
  const { scenarios, report } = parse(workflow).jobs
  const scriptOf = (job: { steps: { run?: string }[] }) => job.steps.map(step => step.run)
  const { folder, run, written } = await projectWithScenarios()
  const summary = join(folder, 'summary.md')
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder, GITHUB_STEP_SUMMARY: summary }
  const results = []
  for (const shard of scenarios.strategy.matrix.shard) {
    const lines = scriptOf(scenarios).map(line => line?.replace(/\$\{\{ matrix\.shard \}\}/g, String(shard)))
    results.push(await run(lines, env))
  }
  expect(results.map(({ code }) => code).sort(), JSON.stringify(results)).toEqual([0, 1])
  const annotations = results.map(({ stderr }) => stderr).join('')
  expect(annotations).toMatch(/^::error file=scenarios\/wrong-greeting.yaml,line=9/m)
  expect(written('summary.md')).toContain('Wrong greeting')

  const joined = await run(scriptOf(report), env)
  expect(joined.code, joined.stderr).toBe(1)
  expect(joined.stderr, 'once for each failure').not.toContain('::error')
  expect(joined.stdout).toMatch(/2 scenarios in .*: 1 passed, 1 failed/)
  expect(written('out/report.html')).toContain('Wrong greeting')
})

it.skipIf(!hasShell)('the pipeline runs every share, and joins the reports', async () => {
  const { scenarios, report } = parse(pipeline)
  const { run, written } = await projectWithScenarios()
  const codes = []
  for (let index = 1; index <= scenarios.parallel; index++) {
    const env = { CI_NODE_INDEX: String(index), CI_NODE_TOTAL: String(scenarios.parallel), GITLAB_CI: 'true' }
    codes.push((await run(scenarios.script, env)).code)
    expect(written(`out/junit-${index}.xml`)).toContain('<testcase')
  }
  expect(codes.sort()).toEqual([0, 1])
  expect(scenarios.retry.exit_codes).toEqual([3])
  expect((await run(report.script, {})).code).toBe(1)
  expect(written('out/report.html')).toContain('Happy path')
})
