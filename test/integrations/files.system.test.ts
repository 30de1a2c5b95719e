/** The files for GitHub, GitLab and Docker: valid, and what their scripts run. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validateAction, validateWorkflow } from '@action-validator/core'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, read } from '../docs/pages.ts'

const ACTION = read('integrations/github-action/action.yml')
const WORKFLOW = read('examples/workflows/handover.yml')
const CI = read('.github/workflows/ci.yml')
const PAGE = read('docs/how-to/github-actions-and-gitlab.md')

/** Runs a script with a program `npx` that writes down what it is given. */
function runScript(
  script: string,
  env: Readonly<Record<string, string>>,
): { code: number; argv: string[]; output: string; cwd: string } {
  const cwd = folderWith({ npx: '#!/bin/sh\nprintf "%s\\0" "$@" > argv\nexit 7\n' })
  chmodSync(join(cwd, 'npx'), 0o755)
  let [code, output] = [0, '']
  try {
    output = execFileSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', script], {
      cwd,
      env: { PATH: `${cwd}:${process.env.PATH}`, ...env },
      encoding: 'utf8',
    })
  } catch (error) {
    const failed = error as { status: number; stdout: string }
    code = failed.status
    output = failed.stdout
  }
  const file = join(cwd, 'argv')
  const argv = existsSync(file) ? readFileSync(file, 'utf8').split('\0').slice(0, -1) : []
  return { code, argv, output, cwd }
}

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

describe('the GitHub Action', () => {
  const [step] = (parse(ACTION) as { runs: { steps: Step[] } }).runs.steps
  const runAction = (inputs: Readonly<Record<string, string>>) => {
    const all: Record<string, string> = { command: 'run', arguments: '', version: '', ...inputs }
    const env = Object.entries(step?.env ?? {}).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/, (_, input: string) => all[input] ?? ''),
    ])
    return runScript(step?.run ?? '', Object.fromEntries(env))
  }

  it('and the workflow that uses it are valid', () => {
    expect(validateAction(ACTION).errors).toEqual([])
    expect(validateWorkflow(WORKFLOW).errors).toEqual([])
  })

  it('runs the command with one argument a line, and ends with its exit code', () => {
    expect(runAction({ arguments: 'my scenarios\n\n--target\nhttp://127.0.0.1:3000/webhook\n' })).toMatchObject({
      code: 7,
      argv: ['--yes', 'handover-sim', 'run', 'my scenarios', '--target', 'http://127.0.0.1:3000/webhook'],
    })
    expect(runAction({ command: 'certify', version: '1.2.3' }).argv).toEqual(['--yes', 'handover-sim@1.2.3', 'certify'])
  })

  it('lets the shell read no text of an input as a command', () => {
    const evil = '$(touch one); `touch two` && touch three'
    const { argv, cwd } = runAction({ arguments: evil, version: '1"; touch four' })
    expect(argv).toEqual(['--yes', 'handover-sim@1"; touch four', 'run', evil])
    expect(['one', 'two', 'three', 'four'].filter(name => existsSync(join(cwd, name)))).toEqual([])
    const other = runAction({ command: 'run; touch five' })
    expect([other.code, other.argv, other.output]).toEqual([2, [], expect.stringContaining('command must be run')])
    // Nothing of the workflow's context is part of a script.
    expect((step?.run ?? '').includes('${{')).toBe(false)
  })

  it('is used by the workflow as its inputs say', () => {
    const { jobs } = parse(WORKFLOW) as { jobs: { scenarios: { steps: Step[] } } }
    const inputs = Object.keys((parse(ACTION) as { inputs: object }).inputs)
    const uses = jobs.scenarios.steps.filter(({ uses }) => uses?.endsWith('/handover-sim'))
    expect(uses).toHaveLength(2)
    for (const one of uses) {
      expect(inputs).toEqual(expect.arrayContaining(Object.keys(one.with ?? {})))
      expect(runAction(one.with ?? {}).argv).toEqual(expect.arrayContaining(['--target', 'driver.yaml']))
    }
  })
})

it('the workflow of this repository is valid, may only read, and has a job for each part of .ci/run', () => {
  expect(validateWorkflow(CI).errors).toEqual([])
  const { permissions, jobs } = parse(CI) as {
    permissions: object
    jobs: { part: { strategy: { matrix: { part: string[] } }; steps: Step[] } }
  }
  expect(permissions).toEqual({ contents: 'read' })
  const { strategy, steps } = jobs.part
  for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/)
  expect(steps.at(-1)?.run).toMatch(/^\.ci\/run \$\{\{ matrix\.part \}\}$/)
  const { status, stderr } = spawnSync('bash', [join(ROOT, '.ci/run'), 'nothing'], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([2, `There is no part nothing; known: ${strategy.matrix.part.join(' ')}.\n`])
})

it('the workflows of the pages are valid', () => {
  const workflows = blocks(PAGE, 'yaml').filter(text => text.includes('runs-on:'))
  expect(workflows.length).toBeGreaterThan(0)
  for (const text of workflows) expect(validateWorkflow(text).errors).toEqual([])
})

it('the template for GitLab runs the scenarios with its inputs', () => {
  const [header, template] = parseAllDocuments(read('integrations/gitlab/handover-sim.gitlab-ci.yml')).map(one =>
    one.toJS(),
  )
  const { variables, script } = template['handover-scenarios'] as {
    variables: Record<string, string>
    script: string[]
  }
  const inputs = header.spec.inputs as Record<string, { default: string }>
  const env = Object.fromEntries(
    Object.entries(variables).map(([name, text]) => {
      const input = /^\$\[\[ inputs\.(\w+) \]\]$/.exec(text)?.[1] ?? ''
      return [name, inputs[input]!.default]
    }),
  )
  const command = 'handover-sim run scenarios --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml'
  expect(runScript(script[1]!, env).argv.slice(0, 7)).toEqual(command.split(' '))
})

it('the Dockerfile has no finding, installs this version, and is that of the page', () => {
  const dockerfile = read('integrations/docker/Dockerfile')
  expect(validate(dockerfile)).toEqual([])
  const { version, license } = JSON.parse(read('package.json')) as { version: string; license: string }
  expect(dockerfile).toContain(` /tmp/handover-sim-${version}.tgz `)
  expect(dockerfile).toContain(`licenses="${license}"`)
  expect(dockerfile).toMatch(/^USER node$/m)
  expect(blocks(read('docs/how-to/docker-and-compose.md'), 'dockerfile')).toEqual([dockerfile])
})
