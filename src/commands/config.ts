/** Prints every effective setting and where it comes from (`handover-sim config`). */

import { maskSetting } from '../platform/journal/mask.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import { configSources, defineCommand, SETTING_FLAGS } from './command.ts'

export const configCommand = defineCommand({
  flags: {
    ...SETTING_FLAGS,
    '--show-keys': 'show the keys instead of ***',
    '--json': 'one line of JSON: { v, type, settings: { name: { value, from } } }',
  },
  async run(context, flags) {
    const resolved = await resolveSettings(flags, configSources(context))
    const rows = rowsOf(resolved, flags.showKeys ?? false)
    for (const warning of resolved.warnings) context.io.stderr.write(`${warning}\n`)
    const { stdout } = flags.showKeys ? context.unredacted : context.io
    stdout.write(flags.json ? json(rows) : table(rows))
    return 0
  },
})

interface Row {
  readonly name: string
  readonly value: unknown
  readonly from: string
}

const rowsOf = ({ values, sources }: Resolved, showKeys: boolean): Row[] =>
  Object.entries(values).map(([name, value]) => ({
    name,
    value: showKeys ? value : maskSetting(name, value),
    from: sources[name] ?? 'default',
  }))

const json = (rows: readonly Row[]) => {
  const settings = Object.fromEntries(rows.map(({ name, value, from }) => [name, { value, from }]))
  return `${JSON.stringify({ v: 1, type: 'config', settings })}\n`
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value))

function table(rows: readonly Row[]): string {
  const nameColumns = Math.max(...rows.map(row => row.name.length))
  const valueColumns = Math.max(...rows.map(row => textOf(row.value).length).filter(length => length < 40))
  const line = ({ name, value, from }: Row) =>
    `${name.padEnd(nameColumns)}  ${textOf(value).padEnd(valueColumns)}  ${from}\n`
  return rows.map(line).join('')
}
