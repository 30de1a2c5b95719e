/** Shows what happened in a run: the sequence diagram, the chats, the failures, and the details of one entry. */
import { useEffect, useRef } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'
import type { EntryOf } from '../../../platform/journal/entry.ts'
import { CallCode } from '../components/call-code.tsx'
import { JournalEntry } from '../components/entry-details.tsx'
import { FailureCards, TargetOutputView, WarningList } from '../components/failure-cards.tsx'
import { focusRow, SequenceDiagram } from '../components/sequence-diagram.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { scrollWithin } from '../model/scroll-within.ts'
import { codeCallOf, requestOf } from '../model/snippets.ts'
import { RunChat } from './run-chat.tsx'
import { RESULT_TABS, type ResultTab } from './ui-address.ts'
import { useUi } from './ui-state.ts'

const TAB_NAMES = { diagram: 'Diagram', chat: 'Chat', failures: 'Failures' } as const

export function ResultPane() {
  const { view, shown, showEntry } = useUi()
  const { failures, report, entries } = shown.value
  // Failures first where there are some.
  const tab = view.tab.value ?? (failures.length > 0 ? 'failures' : 'diagram')
  const remarks = failures.length + (report?.warnings.length ?? 0)
  const show = (chosen: ResultTab) => {
    view.tab.value = chosen
  }
  useShortcuts('Result', {
    1: ['Show the diagram', () => show('diagram')],
    2: ['Show the chat', () => show('chat')],
    3: ['Show the failures', () => show('failures')],
    Escape: ['Close the details', () => showEntry(null)],
  })
  let panel = <Failures />
  if (tab !== 'failures' && entries.length === 0) {
    const text = report?.reason?.text ?? 'Nothing has happened yet. Run the scenario to see its calls and events.'
    panel = <p class="empty">{text}</p>
  } else if (tab !== 'failures') panel = tab === 'chat' ? <RunChat /> : <Diagram />
  return (
    <section class="ui-column result-pane" aria-label="Result">
      <div class="tabs" role="tablist" aria-label="What to show">
        {RESULT_TABS.map(resultTab => (
          <button
            key={resultTab}
            id={`tab-${resultTab}`}
            type="button"
            role="tab"
            aria-selected={resultTab === tab}
            aria-controls="run-panel"
            onClick={() => show(resultTab)}
          >
            {TAB_NAMES[resultTab]} {resultTab === 'failures' && remarks > 0 ? <small>{remarks}</small> : null}
          </button>
        ))}
      </div>
      <div id="run-panel" class="run-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {panel}
      </div>
      {view.entry.value === null ? null : <Details />}
    </section>
  )
}

function Diagram() {
  const { view, shown, step, showEntry } = useUi()
  const { rows, earlierRows, isLive } = shown.value
  const host = useRef<HTMLDivElement>(null)
  const entry = view.entry.value
  const selected = entry === null ? -1 : rows.findIndex(row => row.seq === entry || row.entrySeqs.includes(entry))
  const number = isLive ? view.step.value : step.value?.number
  const index = selected === -1 && number != null ? rows.findIndex(row => row.step === number) : selected
  useEffect(() => {
    const box = host.current
    if (box === null) return
    if (index >= 0) scrollWithin(box, box.querySelector(`[data-index="${index}"]`))
    else if (isLive) box.scrollTop = box.scrollHeight
  }, [index, isLive, rows])
  const select = (index: number) => showEntry(rows[index]?.seq ?? null)
  return (
    <div ref={host} class="run-diagram">
      {earlierRows === 0 ? null : (
        <p class="hint">{`The last ${rows.length} rows. The ${earlierRows} before them are shown when the run has ended.`}</p>
      )}
      <SequenceDiagram
        rows={rows}
        label="Calls and events"
        selected={selected}
        conversation={null}
        onMove={select}
        onOpen={(index, isKey) => {
          select(index)
          if (isKey && host.current !== null) focusRow(host.current, index)
        }}
      />
    </div>
  )
}

function Failures() {
  const { shown, showEntry } = useUi()
  const { failures, report, isLive } = shown.value
  const reason = report?.reason?.text ?? null
  const refs = { onSelect: showEntry }
  let empty = report === null ? 'It was not run yet.' : 'There are no failures.'
  if (isLive) empty = 'Failures are shown when the run has ended.'
  return (
    <div class="run-failures">
      {reason === null ? null : <p class="run-reason">{visible(reason)}</p>}
      <FailureCards failures={failures} refs={refs} level={3} />
      <TargetOutputView output={report?.targetOutput} />
      {failures.length === 0 && reason === null ? <p class="empty">{empty}</p> : null}
      <WarningList warnings={report?.warnings ?? []} refs={refs} />
    </div>
  )
}

function Details() {
  const { view, shown, origin, showEntry } = useUi()
  const { entries } = shown.value
  const entry = entries.find(candidate => candidate.seq === view.entry.value)
  if (entry === undefined) return null
  const attempts: EntryOf<'delivery'>[] = []
  if (entry.kind === 'delivery' || entry.kind === 'event')
    for (const candidate of entries)
      if (candidate.kind === 'delivery' && candidate.delivery_id === entry.delivery_id) attempts.push(candidate)
  const close = (
    <button type="button" class="quiet" aria-label="Close the details" onClick={() => showEntry(null)}>
      ✕
    </button>
  )
  return (
    <JournalEntry
      key={entry.seq}
      entry={entry}
      entries={entries}
      attempts={attempts}
      onSelect={showEntry}
      tools={close}
    >
      {entry.kind === 'api' ? (
        <details class="entry-code">
          <summary>This call as code</summary>
          <CallCode request={requestOf(codeCallOf(entry, origin), null)} />
        </details>
      ) : null}
    </JournalEntry>
  )
}
