/** What `handover-sim/scenario` offers: scenarios written in code, and playing them in a test. */
export * from '../scenario/build/index.ts'
export {
  type RunnableScenario,
  type RunScenarioOptions,
  runScenario,
  ScenarioFailed,
  type ScenarioRun,
} from './run-scenario.ts'
