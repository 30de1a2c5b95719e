/** Loads and selects the scenarios of a run, and lists them for `--dry-run`. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type SelectedScenario, select } from '../runner/schedule.ts'
import { compile } from '../scenario/compile/compile.ts'
import type { Hint } from '../scenario/format/scenario.ts'
import { loadScenarios } from '../scenario/load/load.ts'
import { type Plan, placeText, stepsOf } from '../scenario/plan.ts'
import { counted } from '../text/quantities.ts'
import { visible } from '../text/terminal-text.ts'
import { UsageError } from './errors.ts'
import type { Context } from './io.ts'
import type { RunOptions } from './run-flags.ts'

const DEFAULT_FOLDER = 'scenarios'
const NO_FOLDER =
  'There is no folder scenarios here: name the files or folders to play, such as handover-sim run happy.yaml.'

/** Throws `ConfigError` with every problem of every file. */
export async function selectScenarios(
  files: readonly string[],
  options: RunOptions,
  { io }: Context,
): Promise<SelectedScenario[]> {
  if (files.length === 0 && !existsSync(resolve(io.cwd, DEFAULT_FOLDER))) throw new UsageError(NO_FOLDER)
  const patterns = files.length === 0 ? [DEFAULT_FOLDER] : files
  const loaded = await loadScenarios(patterns, { cwd: io.cwd, nodeVersion: io.nodeVersion })
  for (const { warnings } of loaded) for (const warning of warnings) io.stderr.write(`${warningText(warning)}\n`)
  return select(compile(loaded), options)
}

const warningText = ({ place, message }: Hint): string =>
  `${place === null ? '' : `${placeText(place)}: `}warning: ${message}`

export function nothingSelected(files: readonly string[], { only, tags, shard }: RunOptions): string {
  const filters = [
    ...only.map(name => `--only ${JSON.stringify(name)}`),
    ...tags.map(tag => `--tag ${tag}`),
    ...(shard === null ? [] : [`--shard ${shard.index}/${shard.of}`]),
  ]
  const where = files.length === 0 ? DEFAULT_FOLDER : files.join(' ')
  return filters.length === 0
    ? `There is no scenario in ${where}.`
    : `No scenario in ${where} matches ${filters.join(' ')}.`
}

/** One line for each scenario, in order: place, name, steps, needs. */
export function dryRun(wanted: readonly SelectedScenario[]): string {
  const lines = wanted.map(({ plan, instance }) => {
    const repetition = instance === 1 ? '' : ` (${instance})`
    const needs = plan.needs.length === 0 ? '' : `, needs ${plan.needs.join(', ')}`
    const alone = plan.exclusive === null ? '' : `, alone: ${plan.exclusive}`
    return `${visible(placeOf(plan))}  ${visible(plan.name)}${repetition}  ${counted(countOf(plan), 'step')}${needs}${alone}\n`
  })
  return `${lines.join('')}${wanted.length} to play\n`
}

const placeOf = ({ file, place }: Plan): string => (place === null ? file : `${place.file}:${place.line}`)
const countOf = ({ steps, finally: last }: Plan): number => [...stepsOf([...steps, ...last])].length
