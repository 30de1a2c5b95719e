/** Uses the package from CommonJS, which needs TypeScript 5.8 or later. */
import handover = require('handover-sim')
import signature = require('handover-sim/signature')

const sim: handover.Simulator = handover.createSimulator({ seed: 1 })
export const signed: Promise<string> = signature.sign('body', sim.apiKey)
