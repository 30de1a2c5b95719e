/** Shows the entries behind a row of a timeline, beside the page. */
import './side-panel.css'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'
import type { TimelineRow } from '../../../evaluation/timeline/rows.ts'
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
  const shown = entries.filter(({ seq }) => row.entrySeqs.includes(seq))
  return (
    <aside id="panel" class="side-panel" aria-labelledby="panel-title" tabIndex={-1}>
      <header>
        <h3 id="panel-title">{row.label}</h3>
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
        <RowFacts row={row} />
        {shown.map(entry => (
          <JournalEntry key={entry.seq} entry={entry} entries={entries} onSelect={onSelect} level={4} />
        ))}
        <LeftOut shown={shown.length} all={row.entrySeqs.length} />
      </div>
    </aside>
  )
}

function RowFacts({ row }: Pick<SidePanelProps, 'row'>) {
  const { atMs, step, conversation, answer = '' } = row
  const facts = [
    routeOf(row),
    `${offsetText(atMs)} s`,
    step === null ? '' : `step ${step}`,
    conversation === null ? '' : `chat ${visible(conversation)}`,
    answer === '' ? '' : `answer: ${answer}`,
  ]
  return (
    <p class="side-panel-facts">
      {facts.filter(Boolean).map(fact => (
        <span key={fact}>{fact}</span>
      ))}
    </p>
  )
}

function LeftOut({ shown, all }: { readonly shown: number; readonly all: number }) {
  if (shown === all) return null
  const what = shown === 0 ? 'The entries behind this row are' : `${all - shown} more entries like these are`
  return <p class="hint">{what} not in this report.</p>
}
