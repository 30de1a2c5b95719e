/** Certifies the example, with or without a bug, as functions in this process and in virtual time. */
import type { CheckReport } from '../../src/running/certifier/report.ts'
import { type CertifyOptions, certify } from '../../src/testing/certify.ts'
import type { Changes } from '../mutants/changes.ts'
import { startExample } from '../mutants/example.ts'

export async function certifyInProcess(changes: Changes, options: CertifyOptions = {}) {
  const { sim, close } = await startExample(changes, { clock: 'real' })
  try {
    const { checks, causes } = await certify(sim, { seed: 1, observe: '400ms', ...options })
    return { checks: checks as readonly CheckReport[], causes }
  } finally {
    await close()
  }
}

export const idsOf = (checks: readonly Pick<CheckReport, 'id' | 'outcome'>[], ...outcomes: readonly string[]) =>
  checks.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id)
