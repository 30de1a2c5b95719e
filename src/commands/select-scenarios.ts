/** Selects the scenarios of a run: files or shipped ones, then filters by name and tag. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearest } from '../base/text/error-text.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { BUILTIN } from '../evaluation/scenario/load/find.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import { type Plan, placeText } from '../evaluation/scenario/plan.ts'
import { isNamed, isTagged, type SelectedScenario, type Selection, select } from '../running/runner/schedule.ts'
import { scenarioSources } from './command.ts'
import { type Context, UsageError } from './io.ts'
import type { RunFlags } from './run-flags.ts'

const TEXTS = {
  noFolder:
    'There is no folder scenarios here: name the files or folders to play, such as handover-sim run happy.yaml, ' +
    'or pass --builtin for the shipped scenarios.',
  warning: (place: string, message: string) => `${place === '' ? '' : `${place}: `}warning: ${message}`,
}

export interface ScenarioSelection {
  readonly wanted: readonly SelectedScenario[]
  /** Every scenario of the files. */
  readonly plans: readonly Plan[]
  /** Why `wanted` is empty. */
  readonly message: string
}

/** Throws `ConfigError` with every problem of every file, and `UsageError` when a filter leaves out nothing. */
export async function selectScenarios(
  files: readonly string[],
  flags: RunFlags,
  selection: Selection,
  context: Context,
): Promise<ScenarioSelection> {
  const patterns = wantedPatterns(files, flags, context)
  const loaded = await loadScenarios(patterns, scenarioSources(context))
  const { stderr } = context.io
  for (const { warnings } of loaded)
    for (const warning of warnings)
      stderr.write(`${TEXTS.warning(warning.place === null ? '' : placeText(warning.place), warning.message)}\n`)
  const plans = compile(loaded)
  const wanted = select(plans, selection)
  const unmatched = filtersOf(selection).filter(({ matches }) => !plans.some(matches))
  const wrong = unmatched.find(({ excludes }) => excludes)
  if (plans.length > 0 && wrong !== undefined) throw new UsageError(unmatchedText(wrong, plans))
  if (wanted.length > 0) for (const filter of unmatched) stderr.write(`${unmatchedText(filter, plans)}\n`)
  return { wanted, plans, message: nothingSelected(patterns, selection, unmatched, plans) }
}

const DEFAULT_FOLDER = 'scenarios'

/** The files, folders and globs to play; throws `UsageError` when there is no default folder. */
export function wantedPatterns(
  files: readonly string[],
  { builtin, selfTest, list }: RunFlags,
  { io }: Context,
): string[] {
  const patterns = [...files, ...(builtin ? [BUILTIN] : [])]
  if (patterns.length > 0) return patterns
  if (existsSync(resolve(io.cwd, DEFAULT_FOLDER))) return [DEFAULT_FOLDER]
  if (!selfTest && !list) throw new UsageError(TEXTS.noFolder)
  io.stderr.write('There is no folder scenarios here: the shipped scenarios are used, as with --builtin.\n')
  return [BUILTIN]
}

interface Filter {
  /** As it was typed. */
  readonly text: string
  readonly value: string
  readonly by: 'name' | 'tag'
  readonly excludes: boolean
  matches(plan: Plan): boolean
}

function filtersOf({ only, skip, tags, notTags }: Selection): Filter[] {
  const ofName = (flag: string, excludes: boolean) => (value: string) =>
    ({
      text: `${flag} ${JSON.stringify(value)}`,
      value,
      by: 'name',
      excludes,
      matches: plan => isNamed(plan, value),
    }) satisfies Filter
  const ofTag = (flag: string, excludes: boolean) => (value: string) =>
    ({ text: `${flag} ${value}`, value, by: 'tag', excludes, matches: plan => isTagged(plan, value) }) satisfies Filter
  return [
    ...only.map(ofName('--only', false)),
    ...tags.map(ofTag('--tag', false)),
    ...skip.map(ofName('--skip', true)),
    ...notTags.map(ofTag('--not-tag', true)),
  ]
}

const unmatchedText = (filter: Filter, plans: readonly Plan[]): string =>
  `${filter.text} matches no scenario${suggestionFor(filter, plans) || '.'}`

/** A name or a tag similar to that of the filter; of a name also a part, because a part selects. */
function suggestionFor({ value, by }: Filter, plans: readonly Plan[]): string {
  const known = plans.flatMap(plan => (by === 'tag' ? plan.tags : [...partsOf(plan.title, value), plan.title]))
  return nearest(value, [...new Set(known)])
}

const SHORTEST_PART = 4

/** The parts of a name with as many words as the text. */
function partsOf(name: string, text: string): string[] {
  const words = name.split(' ')
  const count = text.split(' ').length
  const parts = words.map((_, index) => words.slice(index, index + count).join(' '))
  return parts.filter(part => part.length >= SHORTEST_PART)
}

function nothingSelected(
  patterns: readonly string[],
  selection: Selection,
  [unmatched]: readonly Filter[],
  plans: readonly Plan[],
): string {
  const { shard } = selection
  const filters = filtersOf(selection).map(({ text }) => text)
  const all = shard === null ? filters : [...filters, `--shard ${shard.index}/${shard.of}`]
  const where = patterns.map(pattern => (pattern === BUILTIN ? 'the shipped scenarios' : pattern)).join(' ')
  if (all.length === 0) return `There is no scenario in ${where}.`
  return `No scenario in ${where} matches ${all.join(' ')}${(unmatched === undefined ? '' : suggestionFor(unmatched, plans)) || '.'}`
}
