/** Uses the package from CommonJS, also without `exports` of package.json (`node10`). */
import handover = require('handover-sim')
import contract = require('handover-sim/contract')
import interceptors = require('handover-sim/interceptors')
import scenario = require('handover-sim/scenario')
import signature = require('handover-sim/signature')

const sim: handover.Simulator = handover.createSimulator({ seed: 1 })
export const signed: Promise<string> = signature.sign('body', sim.apiKey)
export const interception: interceptors.Interception = interceptors.intercept(sim)
export const run: Promise<scenario.ScenarioRun> = scenario.runScenario(sim, 'scenarios/happy-path.yaml')
export const request: contract.MessageRequest = contract.MessageRequest.parse({})
// @ts-expect-error no such option
handover.createSimulator({ sed: 1 })
