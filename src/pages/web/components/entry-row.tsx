/** Shows one journal entry as a row of a list: number, time, kind, summary, answer, and how many remarks it has. */
import './entries.css'
import { counted } from '../../../base/text/quantities.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { isOrdered, isProblem, KIND_NAMES, remarksOf, summaryOf } from '../model/entry-summary.ts'
import { timeOfDay } from '../model/formats.ts'
import { Mark } from './mark.tsx'
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
  const { label, answer } = summaryOf(entry)
  const { findings, assumptions, faults } = remarksOf(entry)
  let mark = null
  if (isProblem(entry))
    mark = isOrdered(entry) ? (
      <Mark kind="fault" label="fault" />
    ) : (
      <ProblemMark ok={kind === 'api' && entry.status < 400} />
    )
  return (
    <div class={`entry-row ${kind}${later ? ' later' : ''}`}>
      <span class="entry-row-seq">#{seq}</span>
      <span class="entry-row-time">{timeOfDay(time)}</span>
      <span class="entry-row-kind">{KIND_NAMES[kind]}</span>
      {chat === undefined ? null : <span class={`entry-row-chat ${chat?.hue ?? ''}`}>{chat?.name}</span>}
      <span class="entry-row-label" title={label}>
        <bdi>{label}</bdi>
      </span>
      <span class="entry-row-answer" title={answer}>
        {mark} {answer}
      </span>
      <span class="entry-row-remarks">
        {findings === 0 ? null : <span class="remark finding">{counted(findings, 'finding')}</span>}
        {faults === 0 ? null : <span class="remark fault">{counted(faults, 'fault')}</span>}
        {assumptions === 0 ? null : <span class="remark">{assumptions} assumed</span>}
      </span>
    </div>
  )
}
