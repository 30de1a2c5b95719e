/** Scenarios written in code: what `handover-sim/scenario` offers. */

export type { PartFile, ScenarioFile } from '../format/scenario.ts'
export type { Step } from '../format/step.ts'
export type { BodyOf, CallOptions, CallStep } from './calls.ts'
export { all, check, expectCall, none, oneOf, seq } from './calls.ts'
export type { ScenarioOptions } from './define.ts'
export { definePart, defineScenario } from './define.ts'
export type { Matcher, Matching } from './matchers.ts'
export { $ } from './matchers.ts'
export type { StepOptions } from './options.ts'
export {
  agent,
  availability,
  bot,
  deliver,
  fault,
  include,
  log,
  parallel,
  press,
  repeat,
  target,
  user,
  wait,
} from './verbs.ts'
export { toYaml } from './yaml.ts'
