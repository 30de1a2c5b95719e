/** Scenarios written in code: what `handover-sim/scenario` offers. */

export type { BodyOf, CallOptions, CallStep } from './build/calls.ts'
export { all, check, expectCall, none, oneOf, seq } from './build/calls.ts'
export type { ScenarioOptions } from './build/define.ts'
export { definePart, defineScenario } from './build/define.ts'
export type { Matcher, Matching } from './build/matchers.ts'
export { $ } from './build/matchers.ts'
export type { StepOptions } from './build/options.ts'
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
} from './build/verbs.ts'
export { toYaml } from './build/yaml.ts'
export type { PartFile, ScenarioFile } from './format/scenario.ts'
export type { Step } from './format/step.ts'
