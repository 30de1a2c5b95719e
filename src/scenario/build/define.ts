/** Scenarios and parts in code: the same data as a YAML file, so the same checks, the same runner. */
import type { PartFile, ScenarioFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'

export type ScenarioOptions = Omit<ScenarioFile, '$schema' | 'version' | 'kind' | 'steps'>

export const defineScenario = (options: ScenarioOptions, steps: Step[]): ScenarioFile => ({
  version: 1,
  ...options,
  steps,
})

/** Steps for `include`, in a file of their own; a parameter that is null has to be given. */
export const definePart = (params: Readonly<Record<string, unknown>>, steps: Step[]): PartFile => ({
  version: 1,
  kind: 'partial',
  params: { ...params },
  steps,
})
