/** Shows one journal entry as a row of a list: number, time, kind, summary, answer, and how many remarks it has. */
import './entries.css'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import { labelOf, lineOf } from '../../../evaluation/timeline/entry-line.ts'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { kindName, timeOfDay } from '../model/formats.ts'
import { type ChatTag, ProblemMark } from './sequence-row.tsx'

export interface EntryRowProps {
  readonly entry: Entry
  /** Whether it is after the moment that is shown. */
  readonly later: boolean
  /** Set where entries of several chats are shown; null for an entry of no chat. */
  readonly chat?: ChatTag | null
}

export function EntryRow({ entry, later, chat }: EntryRowProps) {
  const { kind, seq, time } = entry
  const line = lineOf(entry)
  const label = labelOf(line)
  const answer = `${line.answer?.short ?? ''}${kind === 'api' ? `, ${formatMs(entry.duration_ms)}` : ''}`
  const problem = problemIn(entry)
  const findings = kind === 'api' ? entry.findings.length : 0
  const assumptions = kind === 'api' ? Object.keys(entry.unspecified).length : 0
  const faults = kind === 'api' || kind === 'delivery' ? (entry.faults?.length ?? 0) : 0
  return (
    <div class={`entry-row ${kind}${later ? ' later' : ''}`}>
      <span class="entry-row-seq">#{seq}</span>
      <span class="entry-row-time">{timeOfDay(time)}</span>
      <span class="entry-row-kind">{kindName(kind)}</span>
      {chat === undefined ? null : <span class={`entry-row-chat ${chat?.hue ?? ''}`}>{chat?.name}</span>}
      <span class="entry-row-label" title={label}>
        <bdi>{label}</bdi>
      </span>
      <span class="entry-row-answer" title={answer}>
        {problem === null ? null : <ProblemMark problem={problem} />} {answer}
      </span>
      <span class="entry-row-remarks">
        {findings === 0 ? null : <span class="remark finding">{counted(findings, 'finding')}</span>}
        {faults === 0 ? null : <span class="remark fault">{counted(faults, 'fault')}</span>}
        {assumptions === 0 ? null : <span class="remark">{assumptions} assumed</span>}
      </span>
    </div>
  )
}
