/** Draws the timeline of a result when it is opened, with the choice of a chat. */
import { visible } from '../../../base/text/terminal-text.ts'
import type { TimelineRow } from '../../../evaluation/timeline/rows.ts'
import { failureFrom, SequenceDiagram, type SequenceDiagramProps } from '../components/sequence-diagram.tsx'
import { conversationsOf } from '../model/diagram-geometry.ts'

export interface ResultTimelineProps extends SequenceDiagramProps {
  onConversation(conversation: string | null): void
  /** Moves to a row and focuses it. */
  onGo(index: number): void
}

/** So few rows need no button to find a failure. */
const FEW_ROWS = 20

export function ResultTimeline(props: ResultTimelineProps) {
  return (
    <>
      <Tools {...props} />
      <SequenceDiagram {...props} />
    </>
  )
}

function Tools({ rows, selected, conversation, onConversation, onGo }: ResultTimelineProps) {
  const conversations = conversationsOf(rows)
  const hasJump = rows.length > FEW_ROWS && rows.some(({ failed }) => failed)
  if (!hasJump && conversations.length < 2) return null
  const jump = () => {
    const next = failureFrom(rows, conversation, selected, 'f')
    if (next !== null) onGo(next)
  }
  return (
    <div class="result-timeline-tools">
      {hasJump ? (
        <button type="button" onClick={jump}>
          Next failure
        </button>
      ) : null}
      {conversations.length < 2 ? null : (
        <label>
          Chat{' '}
          <select
            name="chat"
            value={conversation ?? ''}
            onChange={({ currentTarget }) => onConversation(currentTarget.value || null)}
          >
            <option value="">all</option>
            {conversations.map(name => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}

/** The index of the row of an entry: its own row, or the one that shows it too; -1 when there is none. */
export function rowOf(rows: readonly TimelineRow[], seq: number): number {
  const own = rows.findIndex(row => row.seq === seq)
  return own >= 0 ? own : rows.findIndex(({ entrySeqs }) => entrySeqs.includes(seq))
}
