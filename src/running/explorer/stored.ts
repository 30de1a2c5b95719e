/** Reads and renders the file of `explore --state`: what was tried, and the conversations that failed. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { parseSource, schemaProblems } from '../../base/files/document.ts'
import { ConfigError } from '../../base/files/errors.ts'
import { readText } from '../../base/files/user-files.ts'
import { keysOf } from '../../base/objects.ts'
import { ZOD_MESSAGES } from '../../base/schemas/explain-issues.ts'
import { ACT_FAULTS, ACT_RULES, type ActSequence, PACES } from './model.ts'
import type { Situations, Tried } from './situations.ts'

const count = () => z.int().check(z.minimum(0))

const StoredAct = z.strictObject({
  kind: z.enum(keysOf(ACT_RULES)),
  chat: count().check(z.maximum(2)),
  pace: z.enum(PACES),
  text: z.optional(z.strictObject({ kind: z.string(), value: z.string().check(z.minLength(1)) })),
  files: z.optional(z.array(z.strictObject({ name: z.string(), type: z.string(), size_kb: count() }))),
  fault: z.optional(z.enum(keysOf(ACT_FAULTS))),
})

const StoredFile = z.strictObject({
  version: z.literal(1),
  seed: count(),
  next: count(),
  /** Situation -> how often it was tried, and how often a conversation failed in it. */
  situations: z.record(z.string(), z.tuple([count(), count()])),
  failing: z.array(
    z.strictObject({ seed: count(), acts: z.array(StoredAct), knobs: z.record(z.string(), z.unknown()) }),
  ),
})

export interface StoredExploration {
  readonly seed: number
  /** How many conversations of this seed were generated. */
  readonly nextIndex: number
  readonly situations: Situations
  /** The shortest conversations that failed. */
  readonly failing: readonly ActSequence[]
}

/** Null when there is no such file yet. Throws `ConfigError`. */
export function loadStored(name: string, cwd: string): StoredExploration | null {
  const path = resolve(cwd, name)
  if (!existsSync(path)) return null
  const source = parseSource(name, readText({ name, path, extension: '.json' }), true)
  const read = StoredFile.safeParse(source.value, ZOD_MESSAGES)
  if (!read.success) throw new ConfigError(schemaProblems(source, read.error.issues, source.value, StoredFile))
  const { seed, next, situations, failing } = read.data
  const tried = new Map<string, Tried>()
  for (const [situation, [times, failures]] of Object.entries(situations)) tried.set(situation, { times, failures })
  return { seed, nextIndex: next, situations: tried, failing: failing as readonly ActSequence[] }
}

export function textOfStored({ seed, nextIndex, situations, failing }: StoredExploration): string {
  const counted: Record<string, [number, number]> = {}
  for (const [situation, { times, failures }] of [...situations].sort(([a], [b]) => (a < b ? -1 : 1)))
    counted[situation] = [times, failures]
  return `${JSON.stringify({ version: 1, seed, next: nextIndex, situations: counted, failing }, null, 1)}\n`
}
