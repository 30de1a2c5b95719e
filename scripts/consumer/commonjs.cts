/** A user's CommonJS: TypeScript 5.8 and later know that Node can require ES modules. */
import handover = require('handover-sim')
import signature = require('handover-sim/signature')

const sim: handover.Simulator = handover.createSimulator({ seed: 1 })
export const signed: Promise<string> = signature.sign('body', sim.apiKey)
