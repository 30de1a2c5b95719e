/** Shows the entries behind a row of a timeline, beside the page. */
import './side-panel.css'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'
import type { TimelineRow } from '../../../evaluation/timeline/timeline.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { JournalEntry } from '../components/entry-details.tsx'
import { routeOf } from '../model/diagram-geometry.ts'
import { offsetText } from '../model/formats.ts'

export interface SidePanelProps {
  readonly row: TimelineRow
  /** All entries of the timeline that the report has. */
  readonly entries: readonly Entry[]
  onMove(by: number): void
  onSelect(seq: number): void
  onClose(): void
}

export function SidePanel({ row, entries, onMove, onSelect, onClose }: SidePanelProps) {
  const content = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (content.current !== null) content.current.scrollTop = 0
  }, [row])
  const { label, entrySeqs, atMs, step, conversation, answer = '' } = row
  const shown = entries.filter(({ seq }) => entrySeqs.includes(seq))
  const facts = [routeOf(row), `${offsetText(atMs)} s`]
  if (step !== null) facts.push(`step ${step}`)
  if (conversation !== null) facts.push(`chat ${visible(conversation)}`)
  if (answer !== '') facts.push(`answer: ${answer}`)
  const left = entrySeqs.length - shown.length
  return (
    <aside id="panel" class="side-panel" aria-labelledby="panel-title" tabIndex={-1}>
      <header>
        <h3 id="panel-title">{label}</h3>
        <div class="side-panel-buttons">
          <button type="button" aria-label="Previous row" onClick={() => onMove(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Next row" onClick={() => onMove(1)}>
            ↓
          </button>
          <button type="button" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        </div>
      </header>
      <div class="side-panel-content" ref={content}>
        <p class="side-panel-facts">
          {facts.filter(Boolean).map(fact => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
        {shown.map(entry => (
          <JournalEntry key={entry.seq} entry={entry} entries={entries} onSelect={onSelect} level={4} />
        ))}
        {left === 0 ? null : (
          <p class="hint">
            {shown.length === 0 ? 'The entries behind this row are' : `${left} more entries like these are`} not in this
            report.
          </p>
        )}
      </div>
    </aside>
  )
}
