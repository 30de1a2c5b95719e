import { certificationChecks, certify } from 'handover-sim/certify'
import { test } from 'vitest'
import { sim } from './simulator.js'

// Checks of the profile resilience need the command: it restarts the intermediary, and times it on the wire.
const checks = certificationChecks.filter(({ profile }) => profile !== 'resilience')

test.each(checks)('$id $title', { timeout: 60_000 }, async ({ id }) => {
  const certification = await certify(sim, { only: [id] })
  certification.assertPassed()
})
