/** Reads entries that another version or another program may have written: an error names the line, the field and the value. */
import * as z from 'zod/mini'
import { ConfigError, problem } from '../base/files/errors.ts'
import { isMap } from '../base/objects.ts'
import { explainIssues, formatValue, ZOD_MESSAGES } from '../base/schemas/explain-issues.ts'
import { type Entry, EntrySchema } from '../platform/journal/entry.ts'

const EntryOfJournal = EntrySchema as z.ZodMiniType<unknown> as z.ZodMiniType<Entry>

const EntryLine = z.object({
  v: z.literal(2),
  type: z.literal('entry'),
  /** Null for an entry that belongs to no scenario. */
  scenario: z.nullable(z.int()),
  entry: EntryOfJournal,
})
export type EntryLine = Pick<z.infer<typeof EntryLine>, 'entry' | 'scenario'>

/** The object of a line of a journal file, whose version is checked. Throws `ConfigError`. */
export function readJournalLine(at: string, value: unknown): Record<string, unknown> {
  if (!isMap(value))
    throw problem(at, `must be a JSON object, got ${formatValue(value)}; a journal has one object on each line`)
  checkVersion(at, 'v', 2, value.v)
  return value
}

/** Throws `ConfigError`. */
export function readEntryLine(at: string, value: unknown): EntryLine {
  const line = readJournalLine(at, value)
  if (isMap(line.entry)) checkVersion(at, 'entry.v', 1, line.entry.v)
  return readAs(at, EntryLine, line)
}

/** An entry as the control API and the log of `start --json` have it. Throws `ConfigError`. */
export function readEntry(at: string, value: Readonly<Record<string, unknown>>): Entry {
  checkVersion(at, 'v', 1, value.v)
  return readAs(at, EntryOfJournal, value)
}

function checkVersion(at: string, field: string, expected: number, received: unknown): void {
  if (received === expected) return
  throw problem(
    at,
    `${field}: must be ${expected}, got ${JSON.stringify(received)}: was it written by another version?`,
  )
}

/** The value itself, with the fields that another version may have added. Throws `ConfigError`. */
export function readAs<Value>(at: string, schema: z.ZodMiniType<Value>, value: unknown): Value {
  const parsed = schema.safeParse(value, ZOD_MESSAGES)
  if (parsed.success) return value as Value
  const issues = explainIssues(parsed.error.issues, value, schema)
  throw new ConfigError(issues.map(({ field, message }) => ({ at, message: `${field}: ${message}` })))
}
