/** The transcript of a chat against the rows a `check` names. */
import type { Check } from '../scenario/action.ts'
import type { TranscriptRow } from '../scenario/run-events.ts'
import { distanceOf } from './matching/distance.ts'
import { fits, type MatchOptions, match } from './matching/match.ts'
import { flow } from './matching/value-text.ts'
import type { Difference } from './verdict.ts'

type Rows = readonly TranscriptRow[]
type Wanted = NonNullable<Check['transcript']>

export function transcriptDifferences(wanted: Wanted, rows: Rows, options: MatchOptions): Difference[] {
  return [
    ...lastRows(wanted.last ?? [], rows, options),
    ...containedRows(wanted.contains ?? [], rows, options),
    ...(wanted.lacks ?? []).flatMap((row, at) => lackedRow(row, at, rows, options)),
    ...(wanted.length === undefined
      ? []
      : match({ transcript: { length: wanted.length } }, { transcript: { length: rows.length } })),
  ]
}

function lastRows(wanted: readonly unknown[], rows: Rows, options: MatchOptions): Difference[] {
  const ends = rows.slice(Math.max(0, rows.length - wanted.length))
  const missing = wanted.length - ends.length
  return wanted.flatMap((row, at) => under(`transcript.last[${at}]`, row, ends[at - missing], options))
}

/** In this order; others may stand between. The first that is not there is told beside the row most alike. */
function containedRows(wanted: readonly unknown[], rows: Rows, options: MatchOptions): Difference[] {
  let from = 0
  for (const [at, row] of wanted.entries()) {
    const found = rows.findIndex((one, place) => place >= from && fits(row, one, options))
    if (found < 0) return under(`transcript.contains[${at}]`, row, mostAlike(row, rows.slice(from), options), options)
    from = found + 1
  }
  return []
}

function mostAlike(wanted: unknown, rows: Rows, options: MatchOptions): TranscriptRow | undefined {
  const same = rows.filter(row => speakerOf(row) === speakerOf(wanted as object))
  const ranked = same.map(row => ({ row, far: distanceOf(match(wanted, row, options)) }))
  return ranked.sort((a, b) => a.far - b.far)[0]?.row ?? rows.at(-1)
}

const speakerOf = (row: object) => ['user', 'bot', 'agent'].find(name => name in row)

function lackedRow(row: unknown, at: number, rows: Rows, options: MatchOptions): Difference[] {
  const found = rows.find(one => fits(row, one, options))
  if (found === undefined) return []
  return [{ path: `transcript.lacks[${at}]`, expected: `no ${flow(row)}`, actual: flow(found) }]
}

function under(path: string, wanted: unknown, row: TranscriptRow | undefined, options: MatchOptions): Difference[] {
  if (row === undefined) return [{ path, expected: flow(wanted), actual: 'absent' }]
  const sameSpeaker = speakerOf(row) === speakerOf(wanted as object)
  if (!sameSpeaker) return fits(wanted, row, options) ? [] : [{ path, expected: flow(wanted), actual: flow(row) }]
  return match(wanted, row, options).map(one => ({ ...one, path: one.path === '' ? path : `${path}.${one.path}` }))
}
