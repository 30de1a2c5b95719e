/** Lists the public names of `handover-sim/scenario`, which builds scenarios in code. */

export type { PartFile, ScenarioFile } from '../format/scenario.ts'
export type { Step } from '../format/step.ts'
export type { Matcher, Matching } from './matchers.ts'
export { $ } from './matchers.ts'
export type { ScenarioOptions } from './scenario-file.ts'
export { definePart, defineScenario, toYaml } from './scenario-file.ts'
export type { BodyOf, CallOptions, CallStep, StepOptions } from './steps.ts'
export {
  agent,
  all,
  availability,
  bot,
  check,
  deliver,
  expectCall,
  fault,
  include,
  log,
  none,
  oneOf,
  parallel,
  press,
  repeat,
  seq,
  target,
  user,
  wait,
} from './steps.ts'
