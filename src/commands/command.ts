/** Defines commands by a table of their flags, and the flags that several commands share. */
import { resolve } from 'node:path'
import { BUDGETS } from '../base/files/budgets.ts'
import { packagePath } from '../base/runtime/node.ts'
import { messageOf } from '../base/text/error-text.ts'
import { parseDuration } from '../base/text/quantities.ts'
import type { LoadOptions } from '../evaluation/scenario/load/load.ts'
import type { ConfigEnvironment } from '../server/config/resolve.ts'
import { type Context, type Io, UsageError } from './io.ts'

export interface FlagDefinition {
  readonly description: string
  /** Whether the flag may be given several times; its value is a list. */
  readonly repeatable?: true
  readonly required?: true
  /** Whether the help leaves it out. */
  readonly hidden?: true
  readonly choices?: readonly string[]
  readonly default?: string
}

/** Flags as the help shows them (`--port <number>`), each with its description. */
export type FlagTable = Readonly<Record<string, string | FlagDefinition>>

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name
type NameOf<Flag extends string> = Flag extends `--no-${infer Name}`
  ? CamelCase<Name>
  : Flag extends `--${infer Name} <${string}>` | `--${infer Name}`
    ? CamelCase<Name>
    : never
type ValueOf<Flag, Definition> = Definition extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Definition extends { readonly repeatable: true }
    ? readonly string[]
    : Flag extends `${string} <${string}>`
      ? string
      : boolean
type AlwaysSet = { readonly default: string } | { readonly required: true }

/** The values of the flags, by their names in camelCase. */
export type FlagsOf<Table> = {
  readonly [Flag in keyof Table & string as Table[Flag] extends AlwaysSet ? never : NameOf<Flag>]?: ValueOf<
    Flag,
    Table[Flag]
  >
} & {
  readonly [Flag in keyof Table & string as Table[Flag] extends AlwaysSet ? NameOf<Flag> : never]: ValueOf<
    Flag,
    Table[Flag]
  >
}

/** Headings of the help, each with the flags below it, most used first. Other flags are settings of the simulator. */
type FlagGroups<Name extends string> = Readonly<Record<string, readonly Name[]>>

export interface CliCommand {
  /** Arguments as the help shows them (`[files...]`), each with its description. */
  readonly arguments?: Readonly<Record<string, string>>
  readonly flags: FlagTable
  readonly groups?: FlagGroups<string>
  /** Shown at the end of the help: what to type after `handover-sim`, and what it does. A test runs each. */
  readonly examples: Readonly<Record<string, string>>
  /** Resolves with the exit code. */
  run(context: Context, flags: object, args: readonly string[]): Promise<number>
}

/** Arguments and flags give the help and the types of `run`, which resolves with the exit code. */
export const defineCommand = <const Table extends FlagTable>(definition: {
  readonly arguments?: Readonly<Record<string, string>>
  readonly flags: Table
  readonly groups?: FlagGroups<NameOf<keyof Table & string>>
  readonly examples: Readonly<Record<string, string>>
  run(context: Context, flags: FlagsOf<Table>, args: readonly string[]): Promise<number>
}): CliCommand => definition

export const SETTING_FLAGS = {
  '--port <number>': 'port to listen on; 0 takes any free one (default: 4747)',
  '--host <address>': 'address to listen on (default: 127.0.0.1)',
  '--webhook-url <url>': 'where events are sent: the webhook of the intermediary',
  '--api-key <key>': 'handover API key; it also signs the webhooks',
  '--bot-api-key <key>': 'bot API key that may read chats',
  '--base-url <url>': 'what _links.self and attachment links begin with',
  '--token <token>': 'control token: what clients of the control API must send',
  '--config <file>': 'config file (default: handover-sim.config.{yaml,yml,json,js,mjs,ts})',
  '--seed <number>': 'same seed: same ids, names and texts (default: 1)',
  '--clock <mode>': 'real | virtual (default: real)',
  '--memory-limit <size>': 'bound of the journal, and of the transcripts (default: 64mb)',
  '--set <knob=value>': { description: 'set a knob; may be repeated', repeatable: true },
  '--no-inspector': 'serve no page for people',
  '--no-markers': 'do not name the assumptions of an answer in its header',
} as const

export const REPORT_FLAG = {
  '--report <reports>': {
    description: 'pretty, tap, github, json=F, junit=F, ctrf=F, html=F, journal=F; with commas',
    repeatable: true,
  },
} as const

export const configSources = ({ io, env, secrets }: Context): ConfigEnvironment => ({
  cwd: io.cwd,
  env,
  secrets,
  nodeVersion: io.nodeVersion,
})

/** Where scenario files are looked for; `builtin:` names those that the package ships. */
export const scenarioSources = ({ io }: Context): LoadOptions => ({
  cwd: io.cwd,
  nodeVersion: io.nodeVersion,
  builtin: packagePath('scenarios'),
})

/** Reads the file that `--body` names; `-` names stdin. */
export async function readBody(file: string, { cwd, readStdin }: Io): Promise<Uint8Array> {
  if (file === '-') return readStdin(BUDGETS.stateBytes)
  const { readRegularFile } = await import('../base/files/user-files.ts')
  try {
    return readRegularFile(resolve(cwd, file), BUDGETS.stateBytes)
  } catch (error) {
    throw new UsageError(`--body: ${file} cannot be read: ${messageOf(error)}.`)
  }
}

const MAX_COUNT = 100_000

export function countFrom(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MAX_COUNT) return count
  throw new UsageError(`${flag} must be a whole number from 1 to ${MAX_COUNT}, got ${JSON.stringify(text)}.`)
}

/** Reads a duration longer than `moreThanMs`. */
export function durationFrom(flag: string, text: string | undefined, example: string, moreThanMs = 0) {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== null && ms > moreThanMs) return ms
  throw new UsageError(`${flag} must be a duration with a unit such as ${example}, got ${JSON.stringify(text)}.`)
}

/** How long to wait for the intermediary. CI often starts it at the same time as the run. */
export function waitFrom(text: string | undefined, { CI }: Context['env']): number {
  const isCi = CI !== undefined && CI !== '' && CI !== 'false'
  return durationFrom('--wait-for-target', text, '30s', -1) ?? (isCi ? 30_000 : 0)
}
