/** Certifies each reference intermediary by all checks: each must have its one true outcome. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { certificationChecks } from '../../src/testing/certify.ts'
import { pathOf } from '../docs/pages.ts'
import { type Example, NODE, PYTHON, RUBY } from '../examples/program.ts'
import { writeDriverOf } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { certify, type ReportedCertificate } from './target.ts'

/** Facts that are true for every intermediary that repeats calls. */
const INFORMS = ['FLT-04']

const EXAMPLES = [NODE, PYTHON, RUBY]

const IDS = certificationChecks.map(({ id }) => id).sort()
const isOfMany = (id: string) => id.startsWith('CON-')

/** Certifies an example. Each has another seed, so that other behaviour of the platform is varied. */
async function certifyReference({ name, command }: Example, ...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'handover-reference-'))
  try {
    const port = await freePort()
    const driver = writeDriverOf({ folder, port, start: command, cwd: pathOf(`examples/${name}`) })
    const where = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver]
    const seed = 1 + EXAMPLES.findIndex(example => example.name === name)
    return await certify(...where, '--observe', '400ms', '--seed', String(seed), ...flags)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const missing = (example: Example) =>
  spawnSync(example.command[0], ['--version']).status === 0 ? null : `${example.command[0]} is not installed`

/** The ids of the checks that ended in another way than they have to. */
const othersIn = ({ checks }: ReportedCertificate) =>
  checks.filter(({ id, outcome }) => outcome !== (INFORMS.includes(id) ? 'info' : 'pass'))

/** Most of the time is waiting, so all run at once. Only many chats need the machine for themselves. */
describe.each([
  ['of few chats', IDS.filter(id => !isOfMany(id)), ['--skip', 'CON', '--within', '8s'], true],
  // How fast the machine is with many chats is not tested here.
  ['of many chats', IDS.filter(isOfMany), ['--only', 'CON', '--ack-limit', '30s', '--observe', '2s'], false],
])('checks %s', (_, ids, flags, concurrent) => {
  it.for(EXAMPLES)('pass $name', { concurrent }, async (example, { skip, expect }) => {
    const why = missing(example)
    if (why !== null) skip(why)
    const certificate = await certifyReference(example, ...flags)
    expect(certificate.checks.map(({ id }) => id).sort()).toEqual(ids)
    expect(othersIn(certificate)).toEqual([])
    expect(certificate.exitCode).toBe(0)
  })
})
