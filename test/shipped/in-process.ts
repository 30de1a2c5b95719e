/** Runs scenarios against the example, with or without a bug, in this process and in virtual time. */
import { type RunnableScenario, runScenario } from '../../src/testing/scenario.ts'
import type { Changes } from '../mutants/changes.ts'
import { startExample } from '../mutants/example.ts'

export async function runInProcess(changes: Changes, scenario: RunnableScenario, clock: 'real' | 'virtual' = 'real') {
  const { sim, close } = await startExample(changes, { clock })
  try {
    const { scenarios } = await runScenario(sim, scenario, { env: {} })
    return scenarios
  } finally {
    await close()
  }
}
