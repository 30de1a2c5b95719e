/** Checks scenario, driver and config files, and the files of `certify` (`handover-sim validate`). */
import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseSources } from '../base/files/document.ts'
import { ConfigError, formatProblem, type Problem } from '../base/files/errors.ts'
import { isDataFile, loadExports, readText } from '../base/files/user-files.ts'
import { isMap } from '../base/objects.ts'
import { counted } from '../base/text/quantities.ts'
import { visible, visibleLines } from '../base/text/terminal-text.ts'
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { PartFile, type ScenarioHint } from '../evaluation/scenario/format/scenario.ts'
import { type FoundFile, findFiles } from '../evaluation/scenario/load/find.ts'
import { loadScenarios, parseValue, valuesIn } from '../evaluation/scenario/load/load.ts'
import { placeText } from '../evaluation/scenario/plan.ts'
import { loadDriver } from '../running/agent-driver/load-driver.ts'
import { BUILT_IN_VERBS } from '../running/agent-driver/read-driver.ts'
import { CAPABILITIES, loadMissingCapabilities } from '../running/certifier/capabilities.ts'
import { loadExpectedFailures } from '../running/certifier/expected-failures.ts'
import { findConfig, loadConfig, resolveSettings } from '../server/config/resolve.ts'
import { configSources, defineCommand, scenarioSources } from './command.ts'
import type { Context } from './io.ts'

/** The exit code when nothing is wrong, but some files are not checked. */
const NOT_CHECKED = 4

export const validateCommand = defineCommand({
  arguments: {
    '[files...]':
      'files, folders or patterns of scenario, driver and config files, and of the files of certify (default: scenarios, the config file, and the driver that it names)',
  },
  flags: {
    '--json': 'one line of JSON per file: { v, type, file, kind, ok, problems, warnings, ... }',
    '--allow-modules': 'load JavaScript and TypeScript files, which runs their code; without it they are not checked',
  },
  examples: {
    validate: 'the folder scenarios, the config file, and the driver that it names',
    'validate scenarios driver.yaml': 'scenarios and the agent driver',
  },
  async run(context, flags, args) {
    const { io } = context
    const allowModules = flags.allowModules ?? false
    const { names, driver } =
      args.length === 0 ? await defaultFiles(context, allowModules) : { names: args, driver: null }
    const files = findFiles(names, scenarioSources(context))
    const checkedFiles = await checkFiles(files, driver, context, allowModules)
    const printed = new Set<string>()
    let notChecked = 0
    let failed = false
    for (const { file, kind, counts, checked, problems, warnings } of checkedFiles) {
      const ok = checked && problems.length === 0
      if (!checked) notChecked++
      failed ||= problems.length > 0
      if (flags.json) {
        const line = { v: 1, type: 'file', file, kind, ok, ...counts, problems, warnings }
        io.stdout.write(`${JSON.stringify(line)}\n`)
        continue
      }
      const lines = problems.map(formatProblem)
      for (const { place, rule, message } of warnings)
        lines.push(`${place === null ? file : placeText(place)}: warning: ${message} (${rule})`)
      for (const line of lines) {
        // Once, also when several scenarios include the part that has the problem.
        if (!printed.has(line)) io.stderr.write(`${visibleLines(line)}\n`)
        printed.add(line)
      }
      // `3 scenarios, 41 steps`; of others `driver, 9 verbs`.
      const contents = kind === 'scenario' || kind === null ? [] : [kind as string]
      for (const [what, count] of Object.entries(counts))
        contents.push(`${count} ${count === 1 ? what.replace(/s$/, '') : what}`)
      if (ok) io.stdout.write(`ok  ${visible(file)}: ${contents.join(', ')}\n`)
    }
    if (failed) return 2
    if (notChecked === 0) return 0
    if (!flags.json) io.stderr.write(`${counted(notChecked, 'file')} not checked.\n`)
    return NOT_CHECKED
  },
})

type Kind = 'scenario' | 'part' | 'driver' | 'config' | 'capabilities' | 'expected failures'

interface CheckedFile {
  readonly file: string
  readonly kind: Kind | null
  /** False for a module that was not loaded. */
  readonly checked: boolean
  /** What is in it: `{ scenarios: 3, steps: 41 }`. */
  readonly counts: Readonly<Record<string, number>>
  readonly problems: readonly Problem[]
  readonly warnings: readonly ScenarioHint[]
}

/** `driver`: the one that the config file names; null when it names none, or one at an address. */
async function defaultFiles(context: Context, allowModules: boolean) {
  const config = findConfig(context.io.cwd)
  let driver: string | null = null
  if (config !== null && (allowModules || isDataFile(config))) {
    // The problems of the config file are found when it is checked.
    const resolved = await orProblems(() => resolveSettings({}, configSources(context)))
    if ('agentDriver' in resolved && !/^https?:/i.test(resolved.agentDriver ?? '')) driver = resolved.agentDriver
  }
  const names = [config?.name ?? null, driver].filter(name => name !== null)
  if (names.length === 0 || existsSync(resolve(context.io.cwd, SCENARIOS))) names.unshift(SCENARIOS)
  return { names, driver }
}

const SCENARIOS = 'scenarios'

async function checkFiles(
  files: readonly FoundFile[],
  driver: string | null,
  context: Context,
  allowModules: boolean,
): Promise<CheckedFile[]> {
  const kinds = new Map<FoundFile, Kind>()
  const results = new Map<FoundFile, Partial<CheckedFile>>()
  await Promise.all(
    files.map(async file => {
      if (allowModules || isDataFile(file)) {
        const kind = file.name === driver ? 'driver' : await orProblems(() => kindOfFile(file, context.io.nodeVersion))
        if (typeof kind === 'string') kinds.set(file, kind)
        else results.set(file, { problems: kind })
        return
      }
      const message = 'not checked: it is a module; pass --allow-modules'
      results.set(file, { checked: false, warnings: [{ place: null, rule: 'module-not-checked', message }] })
    }),
  )
  const scenarios = files.filter(file => kinds.get(file) === 'scenario')
  for (const [file, result] of await checkScenarios(scenarios, context)) results.set(file, result)
  for (const [file, kind] of kinds) {
    if (kind === 'scenario') continue
    const counts = await orProblems(() => countContents(file, kind, context))
    results.set(file, isProblems(counts) ? { problems: counts } : { counts })
  }
  return files.map(file => ({
    file: file.name,
    kind: kinds.get(file) ?? null,
    ...{ checked: true, counts: {}, problems: [], warnings: [] },
    ...results.get(file),
  }))
}

/** Loads all files together, because names must be unique over all; then counts each file by itself. */
async function checkScenarios(
  files: readonly FoundFile[],
  context: Context,
): Promise<Map<FoundFile, Partial<CheckedFile>>> {
  const load = (some: readonly FoundFile[]) => {
    const names = some.map(({ name }) => name)
    return orProblems(() => loadScenarios(names, scenarioSources(context)))
  }
  const together = files.length === 0 ? [] : await load(files)
  const results = new Map<FoundFile, Partial<CheckedFile>>()
  for (const file of files) {
    let loaded = together
    if (isProblems(together)) {
      const problems = together.filter(problem => problem.file === file.name)
      loaded = problems.length > 0 ? problems : await load([file])
    }
    if (isProblems(loaded)) {
      results.set(file, { problems: loaded })
      continue
    }
    const scenarios = loaded.filter(scenario => scenario.file === file.name)
    const plans = compile(scenarios)
    let steps = 0
    for (const { count } of plans) steps += count
    const warnings = scenarios.flatMap(scenario => scenario.warnings)
    results.set(file, { counts: { scenarios: plans.length, steps }, warnings })
  }
  return results
}

async function orProblems<Value>(work: () => Promise<Value>): Promise<Value | readonly Problem[]> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const isProblems = (value: object): value is readonly Problem[] =>
  Array.isArray(value) && value.length > 0 && value.every(item => 'message' in item)

/** Rejects with `ConfigError` when the file is wrong. */
async function countContents(
  file: FoundFile,
  kind: Exclude<Kind, 'scenario'>,
  { io, env }: Context,
): Promise<CheckedFile['counts']> {
  const { cwd, nodeVersion } = io
  switch (kind) {
    case 'part': {
      let steps = 0
      const problems: Problem[] = []
      for (const value of await valuesIn(file, nodeVersion)) {
        const part = parseValue(PartFile, value)
        if (Array.isArray(part)) problems.push(...part)
        else steps += part.value.steps.length
      }
      if (problems.length > 0) throw new ConfigError(problems)
      return { steps }
    }
    case 'driver': {
      const prompt = () => Promise.reject(new Error('validate does not prompt'))
      const driver = await loadDriver(file.name, { cwd, env, nodeVersion, isTTY: false, prompt })
      return { verbs: Object.keys(driver.verbs).length + driver.needTerminal.length }
    }
    case 'config': {
      const layer = await loadConfig(findConfig(cwd, { file: file.name, from: file.name })!, nodeVersion)
      return { settings: Object.keys(layer).length }
    }
    case 'capabilities':
      return { missing: loadMissingCapabilities(file.name, cwd).length }
    case 'expected failures':
      return { checks: loadExpectedFailures(file.name, cwd).length }
  }
}

const DRIVER_KEYS: readonly string[] = [...BUILT_IN_VERBS, 'http', 'does', 'target']
const SCENARIO_KEYS = ['steps', 'name', 'kind', 'chat', 'chats']
const CONFIG_KEYS = ['port', 'host', 'webhook', 'knobs', 'keys', 'agent_driver', 'base_url', 'messages', 'seed', 'bot']

/** Throws `ConfigError` when the file cannot be read at all. */
async function kindOfFile(file: FoundFile, nodeVersion: string): Promise<Kind> {
  if (basename(file.name).startsWith('handover-sim.config.')) return 'config'
  let value: unknown
  if (isDataFile(file)) {
    value = parseSources(file.name, readText(file), file.extension === '.json')[0]?.value
  } else {
    const exports = await loadExports(file, nodeVersion)
    value = exports.default ?? { ...exports }
    if (Array.isArray(value)) value = value[0]
  }
  const fallback = /\bdriver\b/.test(basename(file.name)) ? 'driver' : 'scenario'
  if (!isMap(value)) return fallback
  if (value.kind === 'partial') return 'part'
  const keys = new Set(Object.keys(value))
  const hasOne = (names: readonly string[]) => names.some(name => keys.has(name))
  if (hasOne(SCENARIO_KEYS)) return 'scenario'
  if (hasOne(DRIVER_KEYS)) return 'driver'
  if (hasOne(CONFIG_KEYS)) return 'config'
  if (hasOne(['expected'])) return 'expected failures'
  return hasOne(CAPABILITIES) ? 'capabilities' : fallback
}
