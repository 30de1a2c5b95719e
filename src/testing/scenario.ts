/** `handover-sim/scenario`: builds scenarios in code, and runs scenarios in a test. */
export * from '../scenario/build/index.ts'
export {
  type RunnableScenario,
  type RunScenarioOptions,
  runScenario,
  ScenarioFailedError,
  type ScenarioRun,
} from './run-scenario.ts'
