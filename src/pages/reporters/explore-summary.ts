/** The end of an exploration as text: what was tried, what was not explored, and what failed. */
import { counted } from '../../base/text/quantities.ts'
import { formatMs } from '../../base/text/terminal-text.ts'
import { missingText } from '../../running/explorer/calibrate.ts'
import type { ExploreResult } from '../../running/explorer/explore.ts'
import { coverageOf, type Situations } from '../../running/explorer/situations.ts'

interface SummaryFacts {
  readonly situations: Situations
  readonly seed: number
  readonly durationMs: number
  /** The command or the call that runs the conversation with this seed again. */
  rerun(seed: number): string
}

/** How many conversations were tried, what failed, and which acts were tried in which state. */
export function* exploreSummary(
  result: ExploreResult,
  { situations, seed, durationMs, rerun }: SummaryFacts,
): Generator<string> {
  const { conversations, acts, findings, unconfirmed, calibration, between, undecided, stopped } = result
  const counts = [counted(conversations, 'conversation'), counted(acts, 'act'), counted(situations.size, 'situation')]
  yield ''
  yield `${counts.join(', ')} in ${formatMs(durationMs)}, seed ${seed}.`
  for (const one of calibration.missing) yield `Not explored: ${missingText(one)}.`
  for (const text of calibration.leftOut) yield `Left out: ${text}.`
  for (const [reason, count] of undecided) yield `${counted(count, 'conversation')} without a verdict: ${reason}.`
  if (conversations > 0) yield* coverageTable(situations)
  for (const { invariant, name, needs, failed, of, file, sequence, others } of findings) {
    yield ''
    yield `FAILED ${invariant}: ${name}`
    const rate =
      failed === 0
        ? [`it did not fail alone in ${of} runs, and failed again among a few others`]
        : [...needs, `failed ${failed} of ${of} times`]
    const more = others === 0 ? [] : [`${counted(others, 'other conversation')} failed in the same way`]
    yield `  ${[...rate, ...more].join('; ')}`
    yield `  ${file === null ? `no scenario file: ${rerun(sequence.seed)}` : file.path}`
  }
  for (const { invariant, name, sequence } of unconfirmed) {
    yield ''
    yield `Not confirmed: ${invariant}: ${name}`
    yield '  it failed once, and neither alone nor among a few others again'
    yield `  the conversation again: ${rerun(sequence.seed)}`
  }
  for (const text of between) yield `FAILED between two conversations: ${text}`
  if (stopped !== null) yield `Stopped: ${stopped}.`
  else if (result.isInterrupted) yield 'Stopped: interrupted.'
}

function* coverageTable(situations: Situations): Generator<string> {
  const { columns, rows: states } = coverageOf(situations)
  const rows = [['', ...columns]]
  for (const { state, cells } of states) {
    const texts = cells.map(cell => {
      if (cell === null) return ''
      return cell.failures > 0 ? `${cell.times} (${cell.failures} failed)` : String(cell.times)
    })
    rows.push([state, ...texts])
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  yield ''
  yield 'Acts tried in each state of a chat:'
  for (const row of rows)
    yield `  ${row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')}`.trimEnd()
}
