/** Reads the flags of a command as they are usually written. commander reads all others, and explains mistakes. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { CliCommand, FlagDefinition } from './command.ts'

type Values = Record<string, unknown>

/** Returns null when only commander can tell what is meant: an argument, an unknown flag, a value that is not allowed. */
export function readFlags({ arguments: args, flags }: CliCommand, argv: readonly string[]): Values | null {
  if (args !== undefined) return null
  const known = Object.entries(flags).map(([shown, definition]) => flagOf(shown, definition))
  const values = readWritten(known, argv)
  if (values === null) return null
  const found: Values = {}
  for (const flag of known) {
    const value = flag.written.startsWith('no-')
      ? values[flag.written] === undefined
      : (values[flag.written] ?? flag.default)
    if (!isUsual(flag, value)) return null
    if (value !== undefined) found[flag.name] = value
  }
  return found
}

interface KnownFlag extends Partial<FlagDefinition> {
  /** Without dashes, as in `no-inspector`. */
  readonly written: string
  /** In camelCase and without `no-`. */
  readonly name: string
  readonly takesValue: boolean
}

function flagOf(shown: string, definition: string | FlagDefinition): KnownFlag {
  const [flag = '', value] = shown.split(' ')
  const written = flag.slice(2)
  const name = written.replace(/^no-/, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  return { ...(typeof definition === 'string' ? {} : definition), written, name, takesValue: value !== undefined }
}

function readWritten(flags: readonly KnownFlag[], argv: readonly string[]): Values | null {
  const options: ParseArgsOptionsConfig = {}
  for (const { written, takesValue, repeatable = false } of flags)
    options[written] = { type: takesValue ? 'string' : 'boolean', multiple: repeatable }
  try {
    return parseArgs({ args: [...argv], options, strict: true }).values
  } catch {
    return null
  }
}

/** False for a missing value, and for one that is not allowed. */
function isUsual({ required, choices }: KnownFlag, value: unknown): boolean {
  if (value === undefined) return required !== true
  return choices === undefined || (typeof value === 'string' && choices.includes(value))
}
