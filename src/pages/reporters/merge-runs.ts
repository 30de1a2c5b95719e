/** Merges the saved journals of the shards of one run into one saved run. */

import { ConfigError, type Problem, problemOf } from '../../base/files/errors.ts'
import type { Failure } from '../../evaluation/evaluator/failure.ts'
import type { SavedRun } from '../../evaluation/evaluator/journal-file.ts'
import type { Entry } from '../../platform/journal/entry.ts'

/**
 * The run of all shards, which run side by side: the duration is the longest one, the start the earliest. Throws
 * `ConfigError` when two journals have the same scenario.
 *
 * @param runs at least one, by the name of its file.
 */
export function mergeRuns(runs: ReadonlyMap<string, SavedRun>): SavedRun {
  checkDisjoint(runs)
  const numbered = numberedOn([...runs.values()])
  const [first] = numbered
  if (first === undefined) throw new Error('Failed to merge runs: there is no journal.')
  const lines = numbered.map(({ run }) => run)
  const scenarios = numbered.flatMap(saved => saved.scenarios)
  const journal = numbered.flatMap(saved => saved.journal)
  const run = {
    ...first.run,
    started_at: lines.map(line => line.started_at).sort()[0] ?? first.run.started_at,
    duration_ms: Math.max(...lines.map(line => line.duration_ms)),
    target: distinct(lines.map(line => line.target)).join(', '),
    seed: lines.every(({ seed }) => seed === first.run.seed) ? first.run.seed : null,
    stopped: distinct(lines.flatMap(({ stopped }) => stopped ?? [])).join('; ') || null,
    failures: lines.flatMap(({ failures }) => failures),
    scenarios: scenarios.length,
    entries: journal.length,
  }
  return { run, scenarios, journal }
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]

/** Each shard numbers the entries of no scenario from 1: shifts these numbers, and the failures that refer to them. */
function numberedOn(runs: readonly SavedRun[]): SavedRun[] {
  let offset = 0
  return runs.map(({ run, scenarios, journal }) => {
    const by = offset
    offset += Math.max(0, ...journal.map(({ seq }) => seq))
    const failures = run.failures.map(failure => shiftFailure(failure, by))
    return { run: { ...run, failures }, scenarios, journal: journal.map(entry => shiftEntry(entry, by)) }
  })
}

const shiftEntry = <Numbered extends Entry>(entry: Numbered, offset: number): Numbered => ({
  ...entry,
  seq: entry.seq + offset,
  cause: entry.cause === null ? null : entry.cause + offset,
})

const shiftFailure = (failure: Failure, offset: number): Failure => ({
  ...failure,
  entrySeqs: failure.entrySeqs.map(seq => seq + offset),
  nearest: failure.nearest.map(miss => ({ ...miss, seq: miss.seq + offset })),
})

function checkDisjoint(runs: ReadonlyMap<string, SavedRun>): void {
  const fileOf = new Map<string, string>()
  const problems: Problem[] = []
  for (const [file, { scenarios }] of runs)
    for (const { name, instance } of scenarios) {
      const title = JSON.stringify(instance > 1 ? `${name} #${instance}` : name)
      const other = fileOf.get(title)
      fileOf.set(title, file)
      if (other !== undefined)
        problems.push(
          problemOf(file, `has scenario ${title}, and so does ${other}: name the journal of each shard once.`),
        )
    }
  if (problems.length > 0) throw new ConfigError(problems)
}
