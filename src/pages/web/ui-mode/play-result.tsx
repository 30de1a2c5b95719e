/** Shows what happened in a play: the sequence diagram, the chats, the failures, and the details of one entry. */
import './play-result.css'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { visible } from '../../../base/text/terminal-text.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { CallCode } from '../components/call-code.tsx'
import { EntryDetails } from '../components/entry-details.tsx'
import { EntryRefList } from '../components/entry-ref.tsx'
import { FailureCards } from '../components/failure-cards.tsx'
import { focusRow, SequenceDiagram } from '../components/sequence-diagram.tsx'
import { useShortcut } from '../components/shortcuts.tsx'
import { scrollWithin } from '../model/scroll-within.ts'
import { codeCallOf } from '../model/snippets.ts'
import { PlayChat } from './play-chat.tsx'
import { RESULT_TABS, type ResultTab } from './ui-address.ts'
import type { UiState } from './ui-state.ts'

const TAB_NAMES = { diagram: 'Diagram', chat: 'Chat', failures: 'Failures' } as const

/** Failures first where there are some. */
const shownTab = ({ view, play }: UiState): ResultTab =>
  view.tab.value ?? (play.value.failures.length > 0 ? 'failures' : 'diagram')

export function PlayResult({ ui }: { readonly ui: UiState }) {
  const { view } = ui
  const tab = shownTab(ui)
  const choose = useMemo(() => tabActions(ui), [ui])
  useShortcut('1', 'Result', 'Show the diagram', choose.diagram)
  useShortcut('2', 'Result', 'Show the chat', choose.chat)
  useShortcut('3', 'Result', 'Show the failures', choose.failures)
  useShortcut('Escape', 'Result', 'Close the details', choose.close)
  return (
    <section class="ui-column play-result" aria-label="Result">
      <div class="tabs" role="tablist" aria-label="What to show">
        {RESULT_TABS.map(one => (
          <button
            key={one}
            id={`tab-${one}`}
            type="button"
            role="tab"
            aria-selected={one === tab}
            aria-controls="play-panel"
            onClick={choose[one]}
          >
            {TAB_NAMES[one]} <TabCount ui={ui} tab={one} />
          </button>
        ))}
      </div>
      <div id="play-panel" class="play-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel ui={ui} tab={tab} />
      </div>
      {view.entry.value === null ? null : <Details ui={ui} />}
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

function TabCount({ ui, tab }: { readonly ui: UiState; readonly tab: ResultTab }) {
  const { failures, report } = ui.play.value
  const count = tab === 'failures' ? failures.length + (report?.warnings.length ?? 0) : 0
  return count === 0 ? null : <small>{count}</small>
}

function Panel({ ui, tab }: { readonly ui: UiState; readonly tab: ResultTab }) {
  const { entries, report } = ui.play.value
  if (tab === 'failures') return <Failures ui={ui} />
  if (entries.length === 0)
    return (
      <p class="empty">
        {report?.reason ?? 'Nothing has happened yet. Play the scenario to see its calls and events.'}
      </p>
    )
  return tab === 'chat' ? <PlayChat ui={ui} /> : <Diagram ui={ui} />
}

function Diagram({ ui: { view, play } }: { readonly ui: UiState }) {
  const { rows, earlierRows, isLive } = play.value
  const host = useRef<HTMLDivElement>(null)
  const [entry, step] = [view.entry.value, view.step.value]
  const selected = entry === null ? -1 : rows.findIndex(row => row.seq === entry || row.entrySeqs.includes(entry))
  const shown = selected === -1 && step !== null ? rows.findIndex(row => row.step === step) : selected
  useEffect(() => {
    const box = host.current
    if (box === null) return
    if (shown >= 0) scrollWithin(box, box.querySelector(`[data-index="${shown}"]`))
    else if (isLive) box.scrollTop = box.scrollHeight
  }, [shown, isLive, rows])
  const select = (index: number) => {
    view.entry.value = rows[index]?.seq ?? null
  }
  return (
    <div ref={host} class="play-diagram">
      {earlierRows === 0 ? null : (
        <p class="hint">{`The last ${rows.length} rows. The ${earlierRows} before them are shown when the play has ended.`}</p>
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

function Failures({ ui: { view, play } }: { readonly ui: UiState }) {
  const { failures, report, isLive } = play.value
  const onSelect = (seq: number) => {
    view.entry.value = seq
  }
  const refs = { onSelect }
  const warnings = report?.warnings ?? []
  return (
    <div class="play-failures">
      {report?.reason == null ? null : <p class="play-reason">{visible(report.reason)}</p>}
      <FailureCards failures={failures} refs={refs} level={3} />
      {failures.length === 0 && report?.reason == null ? (
        <p class="empty">{noFailureText(isLive, report !== null)}</p>
      ) : null}
      {warnings.length === 0 ? null : (
        <section>
          <h3>Warnings</h3>
          <ul class="play-warnings">
            {warnings.map(({ rule, message, entrySeqs }, index) => (
              <li key={index}>
                <code>{rule}</code> {visible(message)} <EntryRefList seqs={entrySeqs} refs={refs} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function noFailureText(isLive: boolean, isPlayed: boolean): string {
  if (isLive) return 'Failures are shown when the play has ended.'
  return isPlayed ? 'There are no failures.' : 'It was not played yet.'
}

function Details({ ui: { view, play, origin } }: { readonly ui: UiState }) {
  const { entries } = play.value
  const entryOf = (seq: number) => entries.find(one => one.seq === seq)
  const entry = entryOf(view.entry.value ?? 0)
  if (entry === undefined) return null
  const close = (
    <button type="button" class="quiet" aria-label="Close the details" onClick={() => (view.entry.value = null)}>
      ✕
    </button>
  )
  return (
    <EntryDetails
      key={entry.seq}
      entry={entry}
      effects={entries.filter(({ cause }) => cause === entry.seq).map(({ seq }) => seq)}
      entryOf={entryOf}
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
    </EntryDetails>
  )
}

function attemptsOf(entries: readonly Entry[], entry: Entry): EntryOf<'delivery'>[] {
  if (entry.kind !== 'delivery' && entry.kind !== 'event') return []
  const { delivery_id } = entry
  return entries.filter((one): one is EntryOf<'delivery'> => one.kind === 'delivery' && one.delivery_id === delivery_id)
}
