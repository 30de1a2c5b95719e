/** Merges the saved journals of the shards of one run into one saved run. */
import { ConfigError, type Problem, problemOf } from '../../base/files/errors.ts'
import type { Failure } from '../../evaluation/evaluator/failure.ts'
import type { SavedRun, SavedScenario } from '../../evaluation/evaluator/journal-file.ts'
import type { Entry } from '../../platform/journal/entry.ts'

/**
 * The run of all shards, which run side by side: the duration is the longest one, the start the earliest. Throws
 * `ConfigError` when two journals have the same scenario.
 *
 * @param runs at least one, by the name of its file.
 */
export function mergeRuns(runs: ReadonlyMap<string, SavedRun>): SavedRun {
  const lines = [...runs.values()].map(({ run }) => run)
  const [first] = lines
  if (first === undefined) throw new Error('Failed to merge runs: there is no journal.')
  const [scenarios, journal, failures]: [SavedScenario[], Entry[], Failure[]] = [[], [], []]
  const problems: Problem[] = []
  const fileOf = new Map<string, string>()
  let offset = 0
  for (const [file, saved] of runs) {
    for (const scenario of saved.scenarios) {
      const { name, instance } = scenario
      const title = JSON.stringify(instance > 1 ? `${name} #${instance}` : name)
      const other = fileOf.get(title)
      fileOf.set(title, file)
      scenarios.push(scenario)
      if (other === undefined) continue
      const message = `has scenario ${title}, and so does ${other}: name the journal of each shard once.`
      problems.push(problemOf(file, message))
    }
    // Each shard numbers the entries of no scenario from 1: shifts these numbers, and the failures that refer to them.
    for (const { entrySeqs, nearest, ...failure } of saved.run.failures) {
      const misses = nearest.map(miss => ({ ...miss, seq: miss.seq + offset }))
      failures.push({ ...failure, entrySeqs: entrySeqs.map(seq => seq + offset), nearest: misses })
    }
    const before = offset
    for (const entry of saved.journal) {
      offset = before + entry.seq
      journal.push({ ...entry, seq: offset, cause: entry.cause === null ? null : before + entry.cause })
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const run = {
    ...first,
    started_at: lines.map(line => line.started_at).sort()[0] ?? first.started_at,
    duration_ms: Math.max(...lines.map(line => line.duration_ms)),
    target: [...new Set(lines.map(({ target }) => target))].join(', '),
    seed: lines.every(({ seed }) => seed === first.seed) ? first.seed : null,
    stopped: [...new Set(lines.flatMap(({ stopped }) => stopped ?? []))].join('; ') || null,
    failures,
    scenarios: scenarios.length,
    entries: journal.length,
  }
  return { run, scenarios, journal }
}
