/** Shows one journal entry as a row of a list: number, time, kind, summary, answer, and how many remarks it has. */
import './entries.css'
import { counted } from '../../../base/text/quantities.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { type EntryRemarks, isProblem, KIND_NAMES, remarksOf, summaryOf } from '../model/entry-summary.ts'
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
  const { label, answer } = summaryOf(entry)
  return (
    <div class={['entry-row', entry.kind, later ? 'later' : ''].filter(Boolean).join(' ')}>
      <span class="entry-row-seq">#{entry.seq}</span>
      <span class="entry-row-time">{timeOfDay(entry.time)}</span>
      <span class="entry-row-kind">{KIND_NAMES[entry.kind]}</span>
      {chat === undefined ? null : <span class={`entry-row-chat ${chat?.hue ?? ''}`}>{chat?.name}</span>}
      <span class="entry-row-label" title={label}>
        <bdi>{label}</bdi>
      </span>
      <span class="entry-row-answer" title={answer}>
        <EntryMark entry={entry} /> {answer}
      </span>
      <Remarks remarks={remarksOf(entry)} />
    </div>
  )
}

function EntryMark({ entry }: Pick<EntryRowProps, 'entry'>) {
  if (!isProblem(entry)) return null
  if (entry.kind === 'fault') return <Mark kind="fault" label="fault" />
  return <ProblemMark ok={entry.kind === 'api' && entry.status < 400} />
}

function Remarks({ remarks: { findings, assumptions, faults } }: { readonly remarks: EntryRemarks }) {
  return (
    <span class="entry-row-remarks">
      {findings === 0 ? null : <span class="remark finding">{counted(findings, 'finding')}</span>}
      {faults === 0 ? null : <span class="remark fault">{counted(faults, 'fault')}</span>}
      {assumptions === 0 ? null : <span class="remark">{assumptions} assumed</span>}
    </span>
  )
}
