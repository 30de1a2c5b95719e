/** Prints scenarios without playing them: a catalogue of what they check and need, or the order of a run. */
import { groupBy } from '../base/objects.ts'
import { counted } from '../base/text/quantities.ts'
import { visible, wrap } from '../base/text/terminal-text.ts'
import { type Plan, stepsOf } from '../evaluation/scenario/plan.ts'
import { createTheme } from '../pages/reporters/theme.ts'
import type { SelectedScenario } from '../running/runner/schedule.ts'
import { type Context, colorLevel, columnsOf } from './io.ts'

type Instances = readonly [Plan, ...Plan[]]

/** `run --list`: scenarios with the instances of their matrix, in order. */
export function listScenarios(wanted: readonly SelectedScenario[], json: boolean, { io, env }: Context): string {
  const plans = wanted.filter(({ instance }) => instance === 1).map(({ plan }) => plan)
  const all = [...groupBy(plans, ({ file, title }) => JSON.stringify([file, title])).values()]
  if (json) return all.map(instances => `${JSON.stringify(lineOf(instances))}\n`).join('')
  const { stdout } = io
  const theme = createTheme(colorLevel(env, stdout.isTTY))
  const columns = columnsOf(env, stdout)
  const blocks = all.map(([plan, ...others]) => {
    const head = `${theme.strong(visible(plan.title))}  ${theme.faint(visible(`${plan.file}${plan.tags.length === 0 ? '' : `  [${plan.tags.join(', ')}]`}`))}\n`
    const lines = aboutLines([plan, ...others]).flatMap(line => wrap(visible(line), columns - INDENT.length))
    return `${head}${lines.map(line => `${INDENT}${line}\n`).join('')}`
  })
  return `${blocks.join('\n')}\n${counted(all.length, 'scenario')}${plans.length === all.length ? '' : `, ${plans.length} with their variants`}\n`
}

const INDENT = '    '

function aboutLines([plan, ...others]: Instances): string[] {
  const { description, needs, exclusive } = plan
  const variants = [plan, ...others].map(({ name, title }) => name.slice(title.length).trim())
  return [
    ...(description === null ? [] : [description]),
    ...(others.length === 0 ? [] : [`${variants.length} variants: ${variants.join(' ')}`]),
    needs.length === 0 ? 'needs no agent driver' : `needs ${needs.join(', ')}`,
    ...(exclusive === null ? [] : [`runs alone: ${exclusive}`]),
  ]
}

const lineOf = ([plan, ...others]: Instances) => ({
  v: 1,
  type: 'scenario',
  name: plan.title,
  description: plan.description,
  file: plan.file,
  line: plan.place?.line ?? null,
  column: plan.place?.column ?? null,
  tags: plan.tags,
  spec: plan.spec,
  needs: plan.needs,
  alone: plan.exclusive,
  steps: plan.count,
  instances: [plan, ...others].map(({ name }) => name),
})

/** `run --dry-run`: one line for each scenario, in order: place, name, steps, needs. */
export function dryRun(wanted: readonly SelectedScenario[]): string {
  const lines = wanted.map(({ plan, instance }) => {
    const repetition = instance === 1 ? '' : ` (${instance})`
    const needs = plan.needs.length === 0 ? '' : `, needs ${plan.needs.join(', ')}`
    const alone = plan.exclusive === null ? '' : `, alone: ${plan.exclusive}`
    return `${visible(plan.place === null ? plan.file : `${plan.place.file}:${plan.place.line}`)}  ${visible(plan.name)}${repetition}  ${counted([...stepsOf([...plan.steps, ...plan.finally])].length, 'step')}${needs}${alone}\n`
  })
  return `${lines.join('')}${wanted.length} to play\n`
}
