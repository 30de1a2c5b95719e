import { explore } from 'handover-sim/certify'
import { test } from 'vitest'
import { sim } from './simulator.js'

test('no generated conversation breaks it', { timeout: 60_000 }, async () => {
  const exploration = await explore(sim, { conversations: 100 })
  exploration.assertPassed()
})
