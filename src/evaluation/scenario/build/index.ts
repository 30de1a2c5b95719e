/** Builds scenarios and parts in code, as the same data as YAML files, and lists the public names of `handover-sim/scenario`. */
import type { KnobName, KnobSettings } from '../../../platform/contract/knobs.ts'
import type { Placeholder } from '../format/fields.ts'
import type { PartFile, ScenarioFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'

export type { PartFile, ScenarioFile } from '../format/scenario.ts'
export type { Step } from '../format/step.ts'
export type { Matcher, Matching } from './matchers.ts'
export { $ } from './matchers.ts'
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
  think,
  user,
  wait,
} from './steps.ts'
export { toYaml } from './yaml.ts'

/** The header of a scenario in code. */
export type ScenarioOptions = Omit<ScenarioFile, '$schema' | 'version' | 'kind' | 'steps' | 'config'> & {
  /** Knobs of the platform, by dotted name. */
  config?: { readonly [Name in KnobName]?: KnobSettings[Name] | Placeholder }
}

/**
 * Defines a scenario in code. The result is the data of a scenario file.
 *
 * @example
 * import { defineScenario, expectCall, press } from 'handover-sim/scenario'
 *
 * export default defineScenario({ name: 'Takeover' }, [press('handover'), expectCall('start')])
 */
export const defineScenario = (options: ScenarioOptions, steps: Step[]): ScenarioFile => ({
  version: 1,
  ...options,
  steps,
})

/**
 * Defines steps that `include` inserts, with parameters. A parameter that is null has no default.
 *
 * @example
 * import { definePart, expectCall, press } from 'handover-sim/scenario'
 *
 * export default definePart({ name: null }, [press('handover'), expectCall('start', { sender: { name: '$(name)' } })])
 */
export const definePart = (params: Readonly<Record<string, unknown>>, steps: Step[]): PartFile => ({
  version: 1,
  kind: 'partial',
  params: { ...params },
  steps,
})
