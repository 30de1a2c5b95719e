/** Certifies each reference intermediary by all checks: each must have its one true outcome. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { certificationChecks } from '../../src/testing/certify.ts'
import { pathOf } from '../docs/pages.ts'
import { type Example, NODE, PYTHON, RUBY } from '../examples/program.ts'
import { writeDriverOf } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { certify } from './target.ts'

/** Facts that are true for every intermediary that repeats calls. */
const INFORMS = ['FLT-04']

const EXAMPLES = [NODE, PYTHON, RUBY]

/** Certifies an example by all checks. Each has another seed, so that other behaviour of the platform is varied. */
async function certifyReference(example: Example) {
  const { name, command } = example
  const folder = mkdtempSync(join(tmpdir(), 'handover-reference-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const driver = writeDriverOf({ folder, port, start: command, cwd: pathOf(`examples/${name}`) })
  const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver]
  return certify(...where, '--observe', '400ms', '--seed', String(EXAMPLES.indexOf(example) + 1))
}

const isInstalled = ({ command: [file] }: Example) => spawnSync(file, ['--version']).status === 0

it.for(EXAMPLES)('$name passes every check', { timeout: 120_000 }, async (example, { skip }) => {
  if (!isInstalled(example)) skip(`${example.command[0]} is not installed`)
  const { checks, level, exitCode } = await certifyReference(example)
  expect(checks.map(({ id }) => id).sort()).toEqual(certificationChecks.map(({ id }) => id).sort())
  const others = checks.filter(({ id, outcome }) => outcome !== (INFORMS.includes(id) ? 'info' : 'pass'))
  expect(others).toEqual([])
  expect({ level, exitCode }).toEqual({ level: 'strict', exitCode: 0 })
})
