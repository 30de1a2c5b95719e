import { createSimulator } from 'handover-sim'
import { explore } from 'handover-sim/certify'
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

test('no generated conversation breaks it', { timeout: 60_000 }, async () => {
  const exploration = await explore(sim, { conversations: 100 })
  exploration.assertPassed()
})
