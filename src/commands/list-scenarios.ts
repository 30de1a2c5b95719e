/** Prints scenarios without playing them: a catalogue of what they check and need, or the order of a run. */
import { groupBy } from '../base/objects.ts'
import { counted } from '../base/text/quantities.ts'
import { visible, wrap } from '../base/text/terminal-text.ts'
import { defineTexts } from '../base/text/texts.ts'
import { type Plan, stepsOf } from '../evaluation/scenario/plan.ts'
import { createTheme } from '../pages/reporters/theme.ts'
import type { SelectedScenario } from '../running/runner/schedule.ts'
import { type Context, colorLevel, columnsOf } from './io.ts'

const TEXTS = defineTexts({
  needs: (verbs: string) => `needs ${verbs}`,
  needsNothing: 'needs no agent driver',
  variants: (count: number, values: string) => `${count} variants: ${values}`,
  alone: (why: string) => `runs alone: ${why}`,
  total: (count: number, instances: number) =>
    `${counted(count, 'scenario')}${instances === count ? '' : `, ${instances} with their variants`}`,
  toPlay: (count: number) => `${count} to play`,
})

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
    const head = `${theme.strong(visible(plan.title))}  ${theme.faint(visible(headOf(plan)))}\n`
    const lines = aboutLines([plan, ...others]).flatMap(line => wrap(visible(line), columns - INDENT.length))
    return `${head}${lines.map(line => `${INDENT}${line}\n`).join('')}`
  })
  return `${blocks.join('\n')}\n${TEXTS.total(all.length, plans.length)}\n`
}

const INDENT = '    '

const headOf = ({ file, tags }: Plan): string => `${file}${tags.length === 0 ? '' : `  [${tags.join(', ')}]`}`

function aboutLines([plan, ...others]: Instances): string[] {
  const { description, needs, exclusive } = plan
  const variants = [plan, ...others].map(({ name, title }) => name.slice(title.length).trim())
  return [
    ...(description === null ? [] : [description]),
    ...(others.length === 0 ? [] : [TEXTS.variants(variants.length, variants.join(' '))]),
    needs.length === 0 ? TEXTS.needsNothing : TEXTS.needs(needs.join(', ')),
    ...(exclusive === null ? [] : [TEXTS.alone(exclusive)]),
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
    return `${visible(placeOf(plan))}  ${visible(plan.name)}${repetition}  ${counted(countOf(plan), 'step')}${needs}${alone}\n`
  })
  return `${lines.join('')}${TEXTS.toPlay(wanted.length)}\n`
}

const placeOf = ({ file, place }: Plan): string => (place === null ? file : `${place.file}:${place.line}`)
const countOf = ({ steps, finally: last }: Plan): number => [...stepsOf([...steps, ...last])].length
