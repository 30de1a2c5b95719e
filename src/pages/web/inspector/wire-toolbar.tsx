/** Chooses the view of the wire, and which entries it shows. */

import { batch, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { wallTime } from '../../../base/runtime/clock.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { Menu } from '../components/menu.tsx'
import { saveFile } from '../components/save-file.ts'
import { useShortcuts } from '../components/shortcuts.tsx'
import { isInView } from '../model/entry-filter.ts'
import { kindName } from '../model/formats.ts'
import { ENTRY_KINDS } from './address.ts'
import type { ActionDialog } from './entry-actions.tsx'
import { useIsProxy } from './platform/platform-section.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export interface WireToolbarProps {
  readonly dialog: Signal<ActionDialog | null>
  readonly shown: number
  readonly all: number
}

export function WireToolbar({ dialog, shown, all }: WireToolbarProps) {
  const { view, log, chatId, clearedUntil, isPast } = useSession()
  const inView = { chat: view.all.value ? null : chatId.value, after: clearedUntil.value }
  const problems = log.value.problems.filter(entry => isInView(entry, inView, log.value)).length
  const field = useRef<HTMLInputElement>(null)
  useShortcuts('Wire', { '/': ['Search in entries', () => field.current?.focus()] })
  const toggles: [string, string, Signal<boolean>][] = [
    problems === 0
      ? ['Problems', 'Only problems', view.onlyProblems]
      : [`Problems ${problems}`, `Only problems ${problems}`, view.onlyProblems],
  ]
  if (log.value.chats.size > 1 || view.all.value) toggles.push(['All chats', 'All chats', view.all])
  return (
    <div class="wire-toolbar" role="toolbar" aria-label="View and filter">
      <fieldset class="wire-views" aria-label="View">
        {(['diagram', 'list'] as const).map(name => (
          <button
            key={name}
            type="button"
            aria-pressed={view.wire.value === name}
            onClick={() => (view.wire.value = name)}
          >
            {name === 'diagram' ? 'Diagram' : 'List'}
          </button>
        ))}
      </fieldset>
      <input
        ref={field}
        type="search"
        class="wire-search"
        aria-label="Search in entries"
        placeholder="Search"
        value={view.filter.value}
        onInput={({ currentTarget }) => (view.filter.value = currentTarget.value)}
      />
      <select
        aria-label="Kind of entries"
        value={view.kind.value ?? ''}
        onChange={({ currentTarget }) => {
          view.kind.value = ENTRY_KINDS.find(kind => kind === currentTarget.value) ?? null
        }}
      >
        <option value="">All kinds</option>
        {ENTRY_KINDS.map(kind => (
          <option key={kind} value={kind}>
            {kindName(kind)}
          </option>
        ))}
      </select>
      {toggles.map(([text, name, isOn], index) => (
        <button
          key={index}
          type="button"
          aria-label={name}
          aria-pressed={isOn.value}
          onClick={() => (isOn.value = !isOn.value)}
        >
          {text}
        </button>
      ))}
      <p class="wire-count" role="status">
        {shown === all ? '' : `${shown} of ${all}`}
      </p>
      {isPast ? null : <WireActions dialog={dialog} />}
      {clearedUntil.value === 0 ? null : (
        <p class="hint" role="status">
          Entries up to #{clearedUntil.value} are hidden.{' '}
          <button type="button" class="link" onClick={() => (clearedUntil.value = 0)}>
            Show all
          </button>
        </p>
      )}
      {log.value.droppedUntil === 0 ? null : (
        <p class="hint">The page keeps the latest entries. Those up to #{log.value.droppedUntil} are dropped.</p>
      )}
    </div>
  )
}

/** What can be done without an entry. */
function WireActions({ dialog }: Pick<WireToolbarProps, 'dialog'>) {
  const session = useSession()
  return (
    <Menu title="More">
      {useIsProxy() ? null : (
        <button type="button" class="quiet" onClick={() => (dialog.value = { kind: 'event' })}>
          Send an event
        </button>
      )}
      <button type="button" class="quiet" onClick={() => clearView(session)}>
        Clear the view
      </button>
      <button type="button" class="quiet" onClick={() => session.act(() => downloadJournal(session))}>
        Download the journal
      </button>
    </Menu>
  )
}

/** Hides what passed so far. No chat ends, and the journal keeps all. */
function clearView({ view, log, clearedUntil }: Session): void {
  batch(() => {
    clearedUntil.value = log.peek().entries.at(-1)?.seq ?? 0
    view.entry.value = null
    view.compare.value = null
  })
}

/** In the form of saved journals without scenarios, which `handover-sim report` reads. Of long bodies it has the beginning. */
async function downloadJournal({ client }: Session): Promise<void> {
  const [{ version }, { entries }] = await Promise.all([
    client.send<{ version: string }>('GET', '/state'),
    client.send<{ entries: readonly Entry[] }>('GET', '/journal'),
  ])
  const run = { v: 2, type: 'run', version, started_at: wallTime(), duration_ms: 0, target: '', seed: null }
  const counts = { stopped: null, failures: [], exit_code: 0, scenarios: 0, entries: entries.length }
  let lines = `${JSON.stringify({ ...run, ...counts })}\n`
  for (const entry of entries) lines += `${JSON.stringify({ v: 2, type: 'entry', scenario: null, entry })}\n`
  saveFile('handover-sim-journal.jsonl', lines, 'application/x-ndjson')
}
