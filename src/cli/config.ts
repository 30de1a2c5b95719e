/** Prints every effective setting and where it comes from (`handover-sim config`). */
import type { Command } from 'commander'
import { type Resolved, resolveSettings } from '../config/resolve.ts'
import type { SettingFlags } from '../config/settings.ts'
import { maskSetting } from '../journal/mask.ts'
import type { Context } from './io.ts'
import { addSettingFlags, configSources } from './shared-flags.ts'

interface ConfigFlags extends SettingFlags {
  readonly showKeys?: boolean
  readonly json?: boolean
}

export function define(command: Command): void {
  addSettingFlags(command)
    .option('--show-keys', 'show the keys instead of ***')
    .option('--json', 'one line of JSON: { v, type, settings: { name: { value, from } } }')
}

export async function run(context: Context, flags: ConfigFlags): Promise<number> {
  const resolved = await resolveSettings(flags, configSources(context))
  const rows = rowsOf(resolved, flags.showKeys ?? false)
  for (const warning of resolved.warnings) context.io.stderr.write(`${warning}\n`)
  context.io.stdout.write(flags.json ? json(rows) : table(rows))
  return 0
}

interface Row {
  readonly name: string
  readonly value: unknown
  readonly from: string
}

function rowsOf({ values, sources }: Resolved, showKeys: boolean): Row[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    value: showKeys ? value : maskSetting(name, value),
    from: sources[name] ?? 'default',
  }))
}

const json = (rows: readonly Row[]) => {
  const settings = Object.fromEntries(rows.map(({ name, value, from }) => [name, { value, from }]))
  return `${JSON.stringify({ v: 1, type: 'config', settings })}\n`
}

const shown = (value: unknown) => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value))

function table(rows: readonly Row[]): string {
  const nameColumns = Math.max(...rows.map(row => row.name.length))
  const valueColumns = Math.max(...rows.map(row => shown(row.value).length).filter(length => length < 40))
  const line = ({ name, value, from }: Row) =>
    `${name.padEnd(nameColumns)}  ${shown(value).padEnd(valueColumns)}  ${from}\n`
  return rows.map(line).join('')
}
