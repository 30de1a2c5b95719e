/** Shows what happened in a run: the sequence diagram, the chats, the failures, and the details of one entry. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { CallCode } from '../components/call-code.tsx'
import { JournalEntry } from '../components/entry-details.tsx'
import { FailureCards, WarningList } from '../components/failure-cards.tsx'
import { focusRow, SequenceDiagram } from '../components/sequence-diagram.tsx'
import { useShortcut } from '../components/shortcuts.tsx'
import { scrollWithin } from '../model/scroll-within.ts'
import { codeCallOf } from '../model/snippets.ts'
import { RunChat } from './run-chat.tsx'
import { RESULT_TABS, type ResultTab } from './ui-address.ts'
import { type UiState, useUi } from './ui-state.ts'

const TAB_NAMES = { diagram: 'Diagram', chat: 'Chat', failures: 'Failures' } as const

/** Failures first where there are some. */
const shownTab = ({ view, shown }: UiState): ResultTab =>
  view.tab.value ?? (shown.value.failures.length > 0 ? 'failures' : 'diagram')

export function ResultPane() {
  const ui = useUi()
  const { view } = ui
  const tab = shownTab(ui)
  const choose = useMemo(() => tabActions(ui), [ui])
  useShortcut('1', 'Result', 'Show the diagram', choose.diagram)
  useShortcut('2', 'Result', 'Show the chat', choose.chat)
  useShortcut('3', 'Result', 'Show the failures', choose.failures)
  useShortcut('Escape', 'Result', 'Close the details', choose.close)
  return (
    <section class="ui-column result-pane" aria-label="Result">
      <div class="tabs" role="tablist" aria-label="What to show">
        {RESULT_TABS.map(one => (
          <button
            key={one}
            id={`tab-${one}`}
            type="button"
            role="tab"
            aria-selected={one === tab}
            aria-controls="run-panel"
            onClick={choose[one]}
          >
            {TAB_NAMES[one]} <TabCount tab={one} />
          </button>
        ))}
      </div>
      <div id="run-panel" class="run-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel tab={tab} />
      </div>
      {view.entry.value === null ? null : <Details />}
    </section>
  )
}

function tabActions({ view }: UiState) {
  const show = (tab: ResultTab) => () => {
    view.tab.value = tab
  }
  const close = () => {
    view.entry.value = null
  }
  return { diagram: show('diagram'), chat: show('chat'), failures: show('failures'), close }
}

function TabCount({ tab }: { readonly tab: ResultTab }) {
  const ui = useUi()
  const { failures, report } = ui.shown.value
  const count = tab === 'failures' ? failures.length + (report?.warnings.length ?? 0) : 0
  return count === 0 ? null : <small>{count}</small>
}

function Panel({ tab }: { readonly tab: ResultTab }) {
  const ui = useUi()
  const { entries, report } = ui.shown.value
  if (tab === 'failures') return <Failures />
  if (entries.length === 0)
    return (
      <p class="empty">{report?.reason ?? 'Nothing has happened yet. Run the scenario to see its calls and events.'}</p>
    )
  return tab === 'chat' ? <RunChat /> : <Diagram />
}

function Diagram() {
  const { view, shown } = useUi()
  const { rows, earlierRows, isLive } = shown.value
  const host = useRef<HTMLDivElement>(null)
  const [entry, step] = [view.entry.value, view.step.value]
  const selected = entry === null ? -1 : rows.findIndex(row => row.seq === entry || row.entrySeqs.includes(entry))
  const index = selected === -1 && step !== null ? rows.findIndex(row => row.step === step) : selected
  useEffect(() => {
    const box = host.current
    if (box === null) return
    if (index >= 0) scrollWithin(box, box.querySelector(`[data-index="${index}"]`))
    else if (isLive) box.scrollTop = box.scrollHeight
  }, [index, isLive, rows])
  const select = (index: number) => {
    view.entry.value = rows[index]?.seq ?? null
  }
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
  const { view, shown } = useUi()
  const { failures, report, isLive } = shown.value
  const onSelect = (seq: number) => {
    view.entry.value = seq
  }
  const refs = { onSelect }
  const warnings = report?.warnings ?? []
  return (
    <div class="run-failures">
      {report?.reason == null ? null : <p class="run-reason">{visible(report.reason)}</p>}
      <FailureCards failures={failures} refs={refs} level={3} />
      {failures.length === 0 && report?.reason == null ? (
        <p class="empty">{noFailureText(isLive, report !== null)}</p>
      ) : null}
      <WarningList warnings={warnings} refs={refs} />
    </div>
  )
}

function noFailureText(isLive: boolean, hasRun: boolean): string {
  if (isLive) return 'Failures are shown when the run has ended.'
  return hasRun ? 'There are no failures.' : 'It was not run yet.'
}

function Details() {
  const { view, shown, origin } = useUi()
  const { entries } = shown.value
  const entry = entries.find(one => one.seq === view.entry.value)
  if (entry === undefined) return null
  const close = (
    <button type="button" class="quiet" aria-label="Close the details" onClick={() => (view.entry.value = null)}>
      ✕
    </button>
  )
  return (
    <JournalEntry
      key={entry.seq}
      entry={entry}
      entries={entries}
      attempts={attemptsOf(entries, entry)}
      onSelect={seq => (view.entry.value = seq)}
      tools={close}
    >
      {entry.kind === 'api' ? (
        <details class="entry-code">
          <summary>This call as code</summary>
          <CallCode call={codeCallOf(entry, origin)} />
        </details>
      ) : null}
    </JournalEntry>
  )
}

function attemptsOf(entries: readonly Entry[], entry: Entry): EntryOf<'delivery'>[] {
  if (entry.kind !== 'delivery' && entry.kind !== 'event') return []
  const { delivery_id } = entry
  return entries.filter((one): one is EntryOf<'delivery'> => one.kind === 'delivery' && one.delivery_id === delivery_id)
}
