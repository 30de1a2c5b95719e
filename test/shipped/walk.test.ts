import { expect, it } from 'vitest'
import { runScenario } from '../../src/testing/scenario.ts'
import { BUGS } from '../mutants/bugs.ts'
import { startExample } from '../mutants/example.ts'
import { PATCHES } from '../mutants/patches.ts'

it.for(BUGS)('$bug by $scenario', async (row) => {
  const { sim, close } = await startExample(PATCHES[row.bug])
  try {
  const { scenarios } = await runScenario(sim, `scenarios/${row.scenario}.yaml`)
  console.log(row.bug, row.scenario, scenarios.filter(s => s.outcome !== 'pass' || s.warnings.length).map(s => [s.name, s.outcome, s.reason, s.failures.map(f => `${f.kind}`), s.warnings.map(w => w.rule)]).flat(3).join(' | '))
  } finally { await close() }
}, 20000)
