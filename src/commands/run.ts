/** Runs scenarios against an intermediary and writes reports (`handover-sim run`). */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { groupBy } from '../base/objects.ts'
import { nextMacrotask } from '../base/runtime/clock.ts'
import { freshSeed } from '../base/runtime/node.ts'
import { nearest } from '../base/text/error-text.ts'
import { counted } from '../base/text/quantities.ts'
import { visible, visibleLines, wrap } from '../base/text/terminal-text.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { BUILTIN } from '../evaluation/scenario/load/find.ts'
import { loadScenarios } from '../evaluation/scenario/load/load.ts'
import { type Plan, placeText, stepsOf } from '../evaluation/scenario/plan.ts'
import { parseReports, RUN_REPORTS } from '../pages/reporters/report-option.ts'
import { createTheme } from '../pages/reporters/theme.ts'
import {
  byScenarioGroup,
  isNamed,
  isTagged,
  SCENARIO_GROUPS,
  type SelectedScenario,
  type Selection,
  select,
} from '../running/runner/schedule.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import type { PlatformServer } from '../server/start.ts'
import {
  configSources,
  countFrom,
  defineCommand,
  durationFrom,
  type FlagsOf,
  REPORT_FLAG,
  SETTING_FLAGS,
  scenarioSources,
  waitFrom,
} from './command.ts'
import { type Context, colorLevel, columnsOf, type Shutdown, UsageError } from './io.ts'
import {
  attach,
  nextText,
  type RunSettings,
  runAttached,
  runInterruptibly,
  type SuiteRunOptions,
} from './run-target.ts'
import { addSecretsOfPlans } from './secrets.ts'

const FLAGS = {
  '--builtin': 'the shipped scenarios, with the files named or alone',
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file',
  '--only <name>': { description: 'scenarios whose name contains this; may be repeated', repeatable: true },
  '--skip <name>': { description: 'leave out scenarios whose name contains this; may be repeated', repeatable: true },
  '--tag <tag>': { description: 'scenarios with this tag; may be repeated', repeatable: true },
  '--not-tag <tag>': { description: 'leave out scenarios with this tag; may be repeated', repeatable: true },
  '--shard <n/of>': 'one share of the scenarios, such as 1/4',
  '--repeat <times>': 'run each this often, with fresh chats (default: 1)',
  '--jobs <number>': 'how many run at once (default: 8)',
  '--bail <number>': 'start no further scenario after so many have failed',
  '--timeout <duration>': 'stop the run after this long, such as 10m; what did not run is in the reports',
  '--strict': 'treat warnings as failures, and inconclusive results as exit code 4',
  ...REPORT_FLAG,
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--list': 'print the scenarios: what each checks and needs; runs nothing',
  '--json': 'with --list: one line of JSON for each scenario',
  '--dry-run': 'print what would run',
  '--ui': 'serve a page that runs scenarios and shows them, until stopped',
  '--open': 'with --ui: open the page in a browser',
  '--self-test': 'run against the built-in reference intermediary; without scenarios here, the shipped ones',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, names and texts (default: a fresh one, named in the report)',
} as const

type RunFlags = FlagsOf<typeof FLAGS>

export const runCommand = defineCommand({
  arguments: { '[files...]': 'scenario files, folders or globs (default: scenarios)' },
  flags: FLAGS,
  groups: {
    'Most used': ['target', 'agentDriver', 'builtin', 'tag', 'only', 'ui', 'open', 'report', 'selfTest'],
    'Which scenarios': ['skip', 'notTag', 'shard', 'list', 'json', 'dryRun'],
    'How they run': ['repeat', 'jobs', 'bail', 'timeout', 'strict', 'waitForTarget', 'seed', 'allowRemote'],
  },
  examples: {
    'run builtin:happy-path.yaml --self-test': 'a shipped scenario against the built-in service',
    'run scenarios --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml':
      'your scenarios against your service',
    'run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --tag smoke --report pretty,junit=report.xml':
      'some of the shipped scenarios, with a report for CI',
  },
  run: (context, flags, args) => runScenarios(context, flags, args),
})

/** What a service needs that is started for the run. */
export interface ServiceContext {
  readonly server: PlatformServer
  readonly shutdown: Shutdown
  /** Aborts when the run ends early. */
  readonly signal: AbortSignal
}

/**
 * `startService` starts the intermediary before the run waits for it. Resolves with whether it has started a program that
 * may not serve yet.
 */
export async function runScenarios(
  context: Context,
  flags: RunFlags,
  args: readonly string[],
  startService?: (service: ServiceContext) => Promise<boolean>,
): Promise<number> {
  const { io } = context
  const options = parseFlags(flags, context)
  const reports = parseReports((flags.report ?? []).join(','), RUN_REPORTS, context.env)
  checkCombinations(flags)
  const resolved = await resolveSettings(flags, configSources(context))
  for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)
  const patterns = wantedPatterns(args, flags, context)
  if (flags.ui) {
    const { runUiMode } = await import('./ui-mode.ts')
    return runUiMode({ context, flags, options, resolved, patterns })
  }
  const { wanted, plans, message } = await selectScenarios(patterns, options, context)
  addSecretsOfPlans(
    wanted.map(({ plan }) => plan),
    context,
  )
  if (wanted.length === 0) {
    io.stderr.write(`${visibleLines(message)}\n`)
    return 4
  }
  if (flags.list || flags.dryRun) {
    io.stdout.write(flags.list ? listScenarios(wanted, flags.json ?? false, context) : dryRun(wanted))
    return 0
  }

  // A new seed for every run gives new ids, because a running intermediary remembers the chats of earlier runs. The
  // built-in intermediary is new each time and needs none.
  const { sources, values } = resolved
  const seed = sources.seed === 'default' && !flags.selfTest ? freshSeed() : Number(values.seed)
  const settings: RunSettings = { context, flags, options, resolved, wanted, plans, seed }
  return runInterruptibly(settings, options.timeoutMs, async ({ router, shutdown, signal, withSignalCode }) => {
    // Only scenarios that restart the intermediary need its state in a file, which costs a write per change.
    const storesChats = wanted.some(({ plan }) => plan.needs.some(need => need.startsWith('target.')))
    const result = await runAttached({
      settings,
      router,
      signal,
      async attach() {
        const startsService = (await startService?.({ server: router.server, shutdown, signal })) ?? false
        const attaching = attach({ context, flags, resolved, startsService, storesChats, router, shutdown, signal })
        // Loads the runner after the turn of the event loop in which the process of the target is started.
        const [target] = await Promise.all([attaching, nextMacrotask().then(() => import('./run-suite.ts'))])
        return target
      },
      async run(suite) {
        const { runWithProgress } = await import('./run-suite.ts')
        const result = await runWithProgress(context, suite, reports)
        // The target ends while the reports are written; the shutdown waits for it, or says why it did not end.
        suite.driver?.close().catch(() => {})
        return result
      },
    })
    const { reportRun } = await import('./run-suite.ts')
    const code = await reportRun(withSignalCode(result), context, reports)
    const isShown =
      result.exitCode !== 0 ||
      (io.stderr.isTTY && reports.some(({ report, file }) => report === 'pretty' && file === null))
    const next = patterns.includes(BUILTIN) && isShown ? nextText(result, flags) : null
    if (next !== null) io.stderr.write(`${next}\n`)
    return code
  })
}

function parseFlags(flags: RunFlags, { env }: Context): SuiteRunOptions {
  let shard: SuiteRunOptions['shard'] = null
  if (flags.shard !== undefined) {
    const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(flags.shard) ?? []).map(Number)
    if (index < 1 || index > of)
      throw new UsageError(
        `--shard must be written n/of, such as 1/4, with n from 1 to of, got ${JSON.stringify(flags.shard)}.`,
      )
    shard = { index, of }
  }
  return {
    only: flags.only ?? [],
    skip: flags.skip ?? [],
    tags: flags.tag ?? [],
    notTags: flags.notTag ?? [],
    shard,
    repeat: countFrom('--repeat', flags.repeat) ?? 1,
    jobs: countFrom('--jobs', flags.jobs) ?? 8,
    bail: countFrom('--bail', flags.bail) ?? null,
    timeoutMs: durationFrom('--timeout', flags.timeout, '10m') ?? null,
    waitMs: waitFrom(flags.waitForTarget, env),
  }
}

/** Throws when a flag needs another one, or excludes it. */
function checkCombinations(flags: RunFlags): void {
  if (flags.json && !flags.list) throw new UsageError('--json belongs to --list. A report as JSON: --report json.')
  if (flags.ui) {
    const flag = flags.list ? '--list' : flags.dryRun ? '--dry-run' : flags.report === undefined ? null : '--report'
    if (flag !== null) throw new UsageError(`--ui shows scenarios and results in a page: leave out ${flag}.`)
    if (flags.inspector === false) throw new UsageError('--ui needs the page: leave out --no-inspector.')
  } else if (flags.open) throw new UsageError('--open belongs to --ui: it opens the page in a browser.')
  if (!flags.selfTest) return
  const flag = flags.target !== undefined ? '--target' : flags.agentDriver !== undefined ? '--agent-driver' : null
  if (flag !== null) throw new UsageError(`--self-test runs against the built-in intermediary: leave out ${flag}.`)
}

interface ScenarioSelection {
  readonly wanted: readonly SelectedScenario[]
  /** Every scenario of the files. */
  readonly plans: readonly Plan[]
  /** Why `wanted` is empty. */
  readonly message: string
}

const DEFAULT_FOLDER = 'scenarios'

/** The files, folders and globs to run; throws `UsageError` when there is no default folder. */
export function wantedPatterns(
  files: readonly string[],
  { builtin, selfTest, list }: { readonly builtin?: boolean; readonly selfTest?: boolean; readonly list?: boolean },
  { io }: Context,
): string[] {
  const patterns = [...files, ...(builtin ? [BUILTIN] : [])]
  if (patterns.length > 0) return patterns
  if (existsSync(resolve(io.cwd, DEFAULT_FOLDER))) return [DEFAULT_FOLDER]
  if (!selfTest && !list)
    throw new UsageError(
      'There is no folder scenarios here: name the files or folders to run, such as npx handover-sim run happy.yaml, ' +
        'or pass --builtin for the shipped scenarios.',
    )
  io.stderr.write('There is no folder scenarios here: the shipped scenarios are used, as with --builtin.\n')
  return [BUILTIN]
}

interface Filter {
  /** As it was typed. */
  readonly text: string
  readonly value: string
  readonly by: 'name' | 'tag'
  readonly excludes: boolean
}

/** Throws `ConfigError` with every problem of every file, and `UsageError` when a filter leaves out nothing. */
export async function selectScenarios(
  patterns: readonly string[],
  selection: Selection,
  context: Context,
): Promise<ScenarioSelection> {
  const { stderr } = context.io
  const loaded = await loadScenarios(patterns, scenarioSources(context))
  for (const { warnings } of loaded)
    for (const { place, message } of warnings)
      stderr.write(`${visible(`${place === null ? '' : `${placeText(place)}: `}warning: ${message}`)}\n`)
  const plans = compile(loaded)
  const wanted = select(plans, selection)

  const filters: Filter[] = []
  const { only, tags, skip, notTags, shard } = selection
  for (const value of only)
    filters.push({ text: `--only ${JSON.stringify(value)}`, value, by: 'name', excludes: false })
  for (const value of tags) filters.push({ text: `--tag ${value}`, value, by: 'tag', excludes: false })
  for (const value of skip) filters.push({ text: `--skip ${JSON.stringify(value)}`, value, by: 'name', excludes: true })
  for (const value of notTags) filters.push({ text: `--not-tag ${value}`, value, by: 'tag', excludes: true })
  const unmatched: Filter[] = []
  const notes: string[] = []
  for (const filter of filters) {
    const matches = filter.by === 'name' ? isNamed : isTagged
    if (plans.some(plan => matches(plan, filter.value))) continue
    unmatched.push(filter)
    notes.push(`${filter.text} matches no scenario${suggestionFor(filter, plans) || '.'}`)
  }
  const wrong = unmatched.findIndex(({ excludes }) => excludes)
  if (plans.length > 0 && wrong >= 0) throw new UsageError(notes[wrong]!)
  if (wanted.length > 0) for (const note of notes) stderr.write(`${visible(note)}\n`)

  let where = ''
  for (const pattern of patterns) where += ` ${pattern === BUILTIN ? 'the shipped scenarios' : pattern}`
  const selectors: string[] = []
  for (const { text } of filters) selectors.push(text)
  if (shard !== null) selectors.push(`--shard ${shard.index}/${shard.of}`)
  if (selectors.length === 0) return { wanted, plans, message: `There is no scenario in${where}.` }
  const suggestion = (unmatched[0] && suggestionFor(unmatched[0], plans)) || '.'
  return { wanted, plans, message: `No scenario in${where} matches ${selectors.join(' ')}${suggestion}` }
}

const MIN_PART_CHARS = 4

/** A name or a tag similar to that of the filter; of a name also a part with as many words, because a part selects. */
function suggestionFor({ value, by }: Filter, plans: readonly Plan[]): string {
  const names = new Set<string>()
  const count = value.split(' ').length
  for (const { tags, title } of plans) {
    if (by === 'tag') {
      for (const tag of tags) names.add(tag)
      continue
    }
    const words = title.split(' ')
    for (const index of words.keys()) {
      const part = words.slice(index, index + count).join(' ')
      if (part.length >= MIN_PART_CHARS) names.add(part)
    }
    names.add(title)
  }
  return nearest(value, [...names])
}

const INDENT = '    '

type Instances = readonly [Plan, ...Plan[]]

/** `run --list`: scenarios with the instances of their matrix, in order. */
export function listScenarios(wanted: readonly SelectedScenario[], json: boolean, { io, env }: Context): string {
  const plans = wanted.filter(({ instance }) => instance === 1).map(({ plan }) => plan)
  const inOrder = (some: readonly Plan[]) => [
    ...groupBy(some, ({ file, title }) => JSON.stringify([file, title])).values(),
  ]
  const scenarios = inOrder(plans)
  if (json) return scenarios.map(instances => `${JSON.stringify(describeInstances(instances))}\n`).join('')
  const theme = createTheme(colorLevel(env, io.stdout.isTTY))
  const columns = columnsOf(env, io.stdout) - INDENT.length
  const blocks: string[] = []
  const groups = byScenarioGroup(plans)
  for (const [group, some] of groups) {
    if (group !== null && groups.length > 1) blocks.push(`${theme.strong(group)}: ${SCENARIO_GROUPS[group]}\n`)
    for (const instances of inOrder(some)) {
      const [{ title, description, file, tags, needs, exclusive }] = instances
      const about = needs.length === 0 ? ['needs no agent driver'] : [`needs ${needs.join(', ')}`]
      const variants = instances.map(({ name }) => name.slice(title.length).trim())
      if (variants.length > 1) about.unshift(`${variants.length} variants: ${variants.join(' ')}`)
      if (description !== null) about.unshift(description)
      if (exclusive !== null) about.push(`runs alone: ${exclusive}`)
      const where = `${file}${tags.length === 0 ? '' : `  [${tags.join(', ')}]`}`
      let block = `${theme.strong(visible(title))}  ${theme.faint(visible(where))}\n`
      for (const text of about) for (const line of wrap(visible(text), columns)) block += `${INDENT}${line}\n`
      blocks.push(block)
    }
  }
  const total = plans.length === scenarios.length ? '' : `, ${plans.length} with their variants`
  return `${blocks.join('\n')}\n${counted(scenarios.length, 'scenario')}${total}\n`
}

function describeInstances(instances: Instances) {
  const [{ title, description, file, place, tags, spec, needs, exclusive, count }] = instances
  return {
    v: 1,
    type: 'scenario',
    name: title,
    description,
    file,
    line: place?.line ?? null,
    column: place?.column ?? null,
    tags,
    spec,
    needs,
    alone: exclusive,
    steps: count,
    instances: instances.map(({ name }) => name),
  }
}

/** `run --dry-run`: one line for each scenario, in order: place, name, steps, needs. */
export function dryRun(wanted: readonly SelectedScenario[]): string {
  let text = ''
  for (const { plan, instance } of wanted) {
    const { file, place, name, needs, exclusive } = plan
    const repetition = instance === 1 ? '' : ` (${instance})`
    const steps = counted([...stepsOf([...plan.steps, ...plan.finally])].length, 'step')
    const needed = needs.length === 0 ? '' : `, needs ${needs.join(', ')}`
    const alone = exclusive === null ? '' : `, alone: ${exclusive}`
    const where = visible(place === null ? file : `${place.file}:${place.line}`)
    text += `${where}  ${visible(name)}${repetition}  ${steps}${needed}${alone}\n`
  }
  return `${text}${wanted.length} to run\n`
}
