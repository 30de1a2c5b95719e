import { createSimulator } from 'handover-sim'
import { certificationChecks, certify } from 'handover-sim/certify'
import { test } from 'vitest'
import { createIntermediary } from './intermediary.js'

const intermediary = createIntermediary({
  url: 'https://platform.example.test',
  key: 'sim-handover-key',
  botId: 1042,
  fetch: request => sim.fetch(request),
})

const sim = createSimulator({
  baseUrl: 'https://platform.example.test',
  webhook: { fetch: intermediary.webhook },
  agent: intermediary.agent,
})

// Checks of the profile resilience need the command: it restarts the intermediary, and times it on the wire.
const checks = certificationChecks.filter(({ profile }) => profile !== 'resilience')

test.each(checks)('$id $title', { timeout: 60_000 }, async ({ id }) => {
  const certification = await certify(sim, { only: [id] })
  certification.assertPassed()
})
