/** Reads the flags of a command as they are usually written. commander reads all others, and explains mistakes. */
import type { CliCommand, FlagDefinition, FlagTable } from './command.ts'

interface KnownFlag extends Partial<FlagDefinition> {
  /** In camelCase. */
  readonly name: string
  readonly takesValue: boolean
  /** Whether it is `--no-name`. */
  readonly isNegated: boolean
}

type Values = Record<string, string | boolean | readonly string[]>

/** Returns null when only commander can tell what is meant: an argument, an unknown flag, a value that is not allowed. */
export function readFlags({ arguments: args, flags }: CliCommand, argv: readonly string[]): Values | null {
  if (args !== undefined) return null
  const known = knownFlags(flags)
  const values = defaultsOf(known)
  for (let at = 0; at < argv.length; at++) {
    const [, written = '', given] = /^(--[\w-]+)(?:=(.*))?$/s.exec(argv[at] ?? '') ?? []
    const flag = known.get(written)
    if (flag === undefined || (given !== undefined && !flag.takesValue)) return null
    const value = flag.takesValue ? (given ?? argv[++at]) : undefined
    if (flag.takesValue && !isUsual(flag, value)) return null
    values[flag.name] = settingOf(flag, value, values[flag.name])
  }
  const isComplete = [...known.values()].every(({ required, name }) => !required || values[name] !== undefined)
  return isComplete ? values : null
}

function knownFlags(table: FlagTable): Map<string, KnownFlag> {
  return new Map(
    Object.entries(table).map(([shown, definition]) => {
      const [written = '', value] = shown.split(' ')
      const name = written.replace(/^--(no-)?/, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
      const more = typeof definition === 'string' ? {} : definition
      return [written, { ...more, name, takesValue: value !== undefined, isNegated: written.startsWith('--no-') }]
    }),
  )
}

function defaultsOf(known: ReadonlyMap<string, KnownFlag>): Values {
  const values: Values = {}
  for (const { name, isNegated, default: initial } of known.values()) {
    if (isNegated) values[name] = true
    else if (initial !== undefined) values[name] = initial
  }
  return values
}

/** A value that begins with a dash may be a flag whose value is missing. */
const isUsual = ({ choices }: KnownFlag, value: string | undefined): value is string =>
  value !== undefined && !value.startsWith('-') && (choices === undefined || choices.includes(value))

function settingOf(
  { repeatable, isNegated }: KnownFlag,
  value: string | undefined,
  earlier: Values[string] | undefined,
) {
  if (value === undefined) return !isNegated
  return repeatable ? [...(Array.isArray(earlier) ? earlier : []), value] : value
}
