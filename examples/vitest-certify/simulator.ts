import { createSimulator } from 'handover-sim'
import { createIntermediary } from './intermediary.js'

const intermediary = createIntermediary({
  url: 'https://platform.example.test',
  key: 'sim-handover-key',
  botId: 1042,
  fetch: request => sim.fetch(request),
})

export const sim = createSimulator({
  baseUrl: 'https://platform.example.test',
  webhook: { fetch: intermediary.webhook },
  agent: intermediary.agent,
})
