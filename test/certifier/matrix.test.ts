/**
 * Certifies the example with every bug by all checks, but those of load and of restarts: each bug fails its checks and no
 * other, as far as it allows. Takes minutes, so it runs with `npm run certify:matrix`, which `.ci/run` does.
 */
import { appendFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ALL_BUGS } from './bugs/index.ts'
import { MATRIX } from './matrix.ts'
import { certifyExample } from './target.ts'

const NAMES = [...new Set(ALL_BUGS.map(({ bug }) => bug))]
/** A file to which the failed checks of each bug are written, to make the table anew. */
const { CERTIFY_MATRIX_FILE } = process.env
const isRun = process.env.CERTIFY_MATRIX === '1'

/** Nothing but a failure makes a check fail: the machine is busy with several suites. */
const PATIENT = ['--seed', '1', '--within', '8s', '--skip', 'CON', '--skip', 'RST']

describe('the matrix', () => {
  it('has each bug, with the checks that find it', () => {
    expect(Object.keys(MATRIX).sort()).toEqual([...NAMES].sort())
    const missing = ALL_BUGS.filter(({ bug, check }) => !/^(CON|RST)/.test(check) && !MATRIX[bug]!.includes(check))
    expect(missing.map(({ bug, check }) => `${bug}: ${check}`)).toEqual([])
  })

  it.runIf(isRun).concurrent.for(NAMES)('%s fails its checks and no other', { timeout: 300_000 }, async bug => {
    const flags = ALL_BUGS.find(row => row.bug === bug)?.flags ?? []
    const { checks } = await certifyExample(bug, ...flags, ...PATIENT)
    const failed = checks.filter(({ outcome }) => ['fail', 'warn', 'error'].includes(outcome)).map(({ id }) => id)
    if (CERTIFY_MATRIX_FILE) appendFileSync(CERTIFY_MATRIX_FILE, `${JSON.stringify({ bug, failed })}\n`)
    expect(failed).toEqual(MATRIX[bug])
  })
})
