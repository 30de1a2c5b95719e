/** Shows the details of the selected entry with what can be done with it, or how it differs from a second one. */

import type { Signal } from '@preact/signals'
import { problemIn } from '../../../evaluation/timeline/problems.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { EntryComparison } from '../components/entry-comparison.tsx'
import { EntryDetails } from '../components/entry-details.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import type { JournalLog } from '../model/journal-log.ts'
import { showKnob } from './address.ts'
import { type ActionDialog, EntryActions } from './entry-actions.tsx'
import { PaneSeparator } from './pane-separator.tsx'
import { useIsProxy } from './platform/platform-section.tsx'
import { isDiagnosable, RefusalHelp } from './refusal-help.tsx'
import { useSession } from './session-context.ts'

export interface EntryPaneProps {
  readonly dialog: Signal<ActionDialog | null>
  /** Whether the details are at the right of the rows. */
  readonly isBeside: boolean
  onClose(): void
}

export function EntryPane({ dialog, isBeside, onClose }: EntryPaneProps) {
  const session = useSession()
  const { view, log, isPast } = session
  const isProxy = useIsProxy()
  const selected = view.entry.value
  const entry = selected === null ? undefined : log.value.entry(selected)
  const second = log.value.entry(view.compare.value ?? -1)
  // The first key press keeps the selected entry, which is compared with those that are selected after it.
  const compare = () => (view.compare.value = view.compare.peek() === null ? view.entry.peek() : null)
  useShortcuts('Wire', { c: ['Compare the selected entry with another one', compare] })
  if (entry === undefined) return null
  if (second !== undefined && second !== entry)
    return (
      <>
        <PaneSeparator isBeside={isBeside} />
        <EntryComparison
          left={second}
          right={entry}
          tools={<PaneTools entry={entry} isComparison onClose={onClose} />}
        />
      </>
    )
  return (
    <>
      <PaneSeparator isBeside={isBeside} />
      <EntryDetails
        key={entry.seq}
        entry={entry}
        effects={log.value.effects(entry.seq)}
        entryOf={log.value.entry}
        attempts={findAttempts(entry, log.value)}
        onSelect={seq => (view.entry.value = seq)}
        onKnob={name => showKnob(view, name)}
        tools={<PaneTools entry={entry} onClose={onClose} />}
        advice={!isPast && !isProxy && isDiagnosable(entry) ? <RefusalHelp entry={entry} /> : null}
      >
        {second === entry ? (
          <p class="compare-notice" role="status">
            Select the entry to compare #{entry.seq} with.
            <button type="button" class="link" onClick={() => (view.compare.value = null)}>
              Cancel
            </button>
          </p>
        ) : null}
        {isPast ? null : <EntryActions dialog={dialog} entry={entry} />}
      </EntryDetails>
    </>
  )
}

/** All attempts to send the event of an entry; of a call that failed, the calls with the same body in the same chat. */
function findAttempts(entry: Entry, log: JournalLog): readonly EntryOf<'api' | 'delivery'>[] {
  if (entry.kind === 'delivery' || entry.kind === 'event') return log.attempts(entry.delivery_id)
  if (entry.kind !== 'api' || problemIn(entry) === null) return []
  const body = JSON.stringify(entry.request.body)
  const ofChat = log.chats.get(entry.chat_id ?? '') ?? []
  return ofChat.flatMap(chatEntry =>
    chatEntry.kind === 'api' && chatEntry.endpoint === entry.endpoint && JSON.stringify(chatEntry.request.body) === body
      ? chatEntry
      : [],
  )
}

interface PaneToolsProps {
  readonly entry: Entry
  readonly isComparison?: boolean
  onClose(): void
}

function PaneTools({ entry, isComparison = false, onClose }: PaneToolsProps) {
  const { view, isPast } = useSession()
  const { at, compare } = view
  const isShown = at.value === entry.seq
  return (
    <div class="entry-tools">
      {isComparison ? (
        <button type="button" class="quiet" onClick={() => (compare.value = null)}>
          Stop comparing
        </button>
      ) : (
        <>
          <button
            type="button"
            class="quiet"
            hidden={isPast}
            aria-pressed={isShown}
            onClick={() => (at.value = isShown ? null : entry.seq)}
          >
            Show this moment
          </button>
          <button
            type="button"
            class="quiet"
            title="Then select the other entry"
            onClick={() => (compare.value = entry.seq)}
          >
            Compare
          </button>
        </>
      )}
      <button type="button" class="quiet" aria-label="Close the details" onClick={onClose}>
        ✕
      </button>
    </div>
  )
}
