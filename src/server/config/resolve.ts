/** Resolves the settings of a simulator: flags win over the environment, the config file and the defaults. */

import { readdirSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { DATA_EXTENSIONS, MODULE_EXTENSIONS } from '../../base/files/budgets.ts'
import { ConfigError, type Problem, problem } from '../../base/files/errors.ts'
import type { NamedFile } from '../../base/files/user-files.ts'
import { wallTime } from '../../base/runtime/clock.ts'
import { nearest, nearestName } from '../../base/text/error-text.ts'
import { type Redactor, withoutCredentials } from '../../base/text/redactor.ts'
import { describeSecret, isSecretPath } from '../../base/text/secret-positions.ts'
import { visible } from '../../base/text/terminal-text.ts'
import { agedEvidence } from '../../platform/contract/assumptions.ts'
import { defaultKnobs, formatKnob, formatKnobs, isKnob, KNOB_NAMES, parseKnob } from '../../platform/contract/knobs.ts'
import { addSecretsOf } from '../../platform/journal/mask.ts'
import { readKnob } from '../../platform/simulator/options.ts'
import type { PlatformServerOptions } from '../start.ts'
import {
  type Layer,
  mergeLayers,
  readSettingText,
  SETTINGS,
  type Setting,
  type SettingFlags,
  TEXT_SETTINGS,
  toOptions,
} from './settings.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface ConfigEnvironment {
  readonly cwd: string
  readonly env: Env
  readonly nodeVersion: string
  /** Collects the keys of the settings. */
  readonly secrets?: Redactor
}

export interface Resolved {
  readonly options: PlatformServerOptions
  /** Dotted name -> the origin of its value. */
  readonly sources: Readonly<Record<string, string>>
  /** Dotted name -> the effective value, as a config file would have it; null when there is none. */
  readonly values: Readonly<Record<string, unknown>>
  /** The agent driver, a file or a URL. */
  readonly agentDriver: string | null
  /** The path of the config file; null when there is none. */
  readonly configFile: string | null
  readonly warnings: readonly string[]
}

export async function resolveSettings(flags: SettingFlags, environment: ConfigEnvironment): Promise<Resolved> {
  const problems: Problem[] = []
  // Ignores empty variables.
  const layer: Record<string, Setting> = {}
  for (const setting of TEXT_SETTINGS) {
    const text = environment.env[setting.env]
    if (text) take(layer, setting.name, text, setting.env, problems)
  }
  const fromEnv = layer

  const fromFlags = flagLayer(flags, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  const file = findConfig(environment.cwd, explicitFile(flags, environment.env))
  const fromFile = file === null ? {} : await loadConfig(file, environment.nodeVersion)
  const settings = mergeLayers(defaultLayer(), fromFile, fromEnv, fromFlags)
  const warnings = [
    ...(file?.ignored ?? []).map(ignored => `${ignored} is not read, because ${file?.name} is used.`),
    ...(file === null ? unreadConfigs(environment.cwd) : []),
    ...misspeltVariables(environment.env),
  ]
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const [name, { value, from }] of Object.entries(settings)) {
    values[name] = isKnob(name) && from !== 'default' ? formatKnob(name, parseKnob(name, value)) : value
    sources[name] = from
  }
  const { agent_driver: driver, clock, 'clock.start': start, ...otherValues } = values

  // Only changed knobs, because each simulator reads its knobs again: a run creates one per scenario.
  const initial: Record<string, unknown> = formatKnobs(defaultKnobs())
  const knobs: Record<string, unknown> = {}
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(otherValues)) {
    if (!isKnob(name)) {
      if (value !== null && !name.startsWith('proxy.')) given[name] = value
    } else if (value !== initial[name]) knobs[name] = value
  }
  const options = {
    ...toOptions(given),
    clock: clock === 'virtual' && start !== null ? { mode: 'virtual', start } : clock,
    knobs,
  } as PlatformServerOptions
  const resolved: Omit<Resolved, 'warnings'> = {
    options,
    sources,
    values,
    agentDriver: typeof driver === 'string' ? driver : null,
    configFile: file?.path ?? null,
  }

  const { evidence } = options
  const aged = evidence === undefined ? null : agedEvidence(evidence, wallTime())
  if (aged !== null) warnings.push(aged)
  if (environment.secrets !== undefined) addSecretsOf(environment.secrets, resolved.values)
  return { ...resolved, warnings: warnings.map(visible) }
}

const PREFIX = 'HANDOVER_SIM_'
/** Beside those of settings. Some are for the programs of the user. */
const OTHER_VARIABLES = ['CONFIG', 'URL', 'API_KEY', 'BOT_API_KEY', 'WEBHOOK_SECRET', 'BOT_ID', 'TOKEN']

/** A variable that resembles none may be one of the user's own, and so may a short one, such as HANDOVER_SIM_TEST. */
function misspeltVariables(env: Env): string[] {
  const known = [...TEXT_SETTINGS.map(setting => setting.env.slice(PREFIX.length)), ...OTHER_VARIABLES]
  return Object.keys(env).flatMap(name => {
    const word = name.slice(PREFIX.length)
    if (!name.startsWith(PREFIX) || word.length < 5 || known.includes(word)) return []
    const meant = nearestName(word, known)
    return meant === undefined ? [] : `${name} is not read; did you mean ${PREFIX}${meant}?`
  })
}

function explicitFile(flags: SettingFlags, env: Env) {
  if (flags.config !== undefined) return { file: flags.config, from: '--config' }
  return env.HANDOVER_SIM_CONFIG ? { file: env.HANDOVER_SIM_CONFIG, from: 'HANDOVER_SIM_CONFIG' } : undefined
}

function take(layer: Record<string, Setting>, name: string, text: string, from: string, problems: Problem[]) {
  const read = readSettingText(name, text)
  if ('value' in read) {
    layer[name] = { value: read.value, from }
    return
  }
  // A key by its length, a URL without its credentials.
  const shown = isSecretPath([name]) ? describeSecret(text) : JSON.stringify(withoutCredentials(text))
  problems.push({ at: from, message: `must be ${read.expected}, got ${shown}` })
}

function flagLayer(flags: SettingFlags, problems: Problem[]): Layer {
  const layer: Record<string, Setting> = {}
  for (const assignment of flags.set ?? []) takeAssignment(layer, assignment, problems)
  for (const setting of TEXT_SETTINGS) {
    const text = flags[setting.option]
    if (text !== undefined) take(layer, setting.name, text, setting.flag, problems)
  }
  if (flags.inspector === false) layer.inspector = { value: false, from: '--no-inspector' }
  if (flags.markers === false) layer.markers = { value: false, from: '--no-markers' }
  if (flags.anonymise) layer['proxy.anonymise'] = { value: true, from: '--anonymise' }
  if (flags.rewriteLinks) layer['proxy.rewrite_links'] = { value: true, from: '--rewrite-links' }
  return layer
}

function takeAssignment(layer: Record<string, Setting>, assignment: string, problems: Problem[]): void {
  const equals = assignment.indexOf('=')
  const isKey = /key/i.test(assignment.slice(0, equals))
  const at = isKey ? `--set ${assignment.slice(0, equals)}` : `--set ${assignment}`
  if (equals <= 0) {
    problems.push({ at, message: 'must be written knob=value, such as typing.webhook=off' })
    return
  }
  const name = assignment.slice(0, equals)
  const value = assignment.slice(equals + 1)
  const textSetting = TEXT_SETTINGS.find(setting => setting.name === name)
  if (!isKnob(name)) {
    const instead = textSetting ? `; use ${textSetting.flag}` : nearest(name, KNOB_NAMES)
    problems.push({ at, message: `${name} is not a knob${instead}` })
    return
  }
  const result = readKnob(name, value)
  if ('message' in result) problems.push({ at, message: result.message })
  else layer[name] = { value, from: '--set' }
}

/** The defaults of a server, which differ from those in-process by a fixed port and a real clock. */
function defaultLayer(): Layer {
  const settings = Object.entries(SETTINGS).map(([name, { initial }]) => [name, initial])
  const values = { ...Object.fromEntries(settings), 'clock.start': null, ...formatKnobs(defaultKnobs()) }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, from: 'default' }]))
}

const EXTENSIONS: readonly string[] = [...DATA_EXTENSIONS, ...MODULE_EXTENSIONS]
const NAMES = EXTENSIONS.map(extension => `handover-sim.config${extension}`)

interface FoundConfig extends NamedFile {
  /** Other config files in the folder, which are not read. */
  readonly ignored: readonly string[]
}

/** `explicit` is the value of `--config` or its variable; without it the working folder is searched. */
export function findConfig(
  cwd: string,
  explicit?: { readonly file: string; readonly from: string },
): FoundConfig | null {
  if (explicit !== undefined) {
    const { file, from } = explicit
    const extension = extname(file).toLowerCase()
    if (EXTENSIONS.includes(extension)) return { name: file, path: resolve(cwd, file), extension, ignored: [] }
    throw problem(from, `${JSON.stringify(file)} must end in ${EXTENSIONS.join(', ')}.`)
  }
  const files = namesIn(cwd)
  const [name, ...ignored] = NAMES.filter(fileName => files.includes(fileName))
  return name === undefined ? null : { name, path: resolve(cwd, name), extension: extname(name), ignored }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // A folder that cannot be read has no config file.
    return []
  }
}

const unreadConfigs = (cwd: string): string[] =>
  namesIn(cwd)
    .filter(name => /^handover-sim\.config\.\w+$/.test(name) && !NAMES.includes(name))
    .map(name => `${name} is not read: a config file ends in ${EXTENSIONS.join(', ')}.`)

/** Throws `ConfigError` with every problem found. */
export async function loadConfig(file: FoundConfig, nodeVersion: string): Promise<Layer> {
  const { layerOf } = await import('./schema.ts')
  const { loadDefault, readText } = await import('../../base/files/user-files.ts')
  if (file.extension === '.yaml' || file.extension === '.yml' || file.extension === '.json') {
    const { parseSource } = await import('../../base/files/document.ts')
    return layerOf(file.name, parseSource(file.name, readText(file), file.extension === '.json'))
  }
  const value = await loadDefault(file, nodeVersion, 'export default { port: 4747 }')
  const { moduleSource } = await import('../../base/files/document.ts')
  return layerOf(file.name, moduleSource(file.name, value))
}
