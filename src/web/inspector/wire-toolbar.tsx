/** Chooses the view of the wire, and which entries it shows. */
import { useMemo, useRef } from 'preact/hooks'
import { KIND_NAMES } from '../components/entry-row.tsx'
import { useShortcut } from '../components/shortcuts.tsx'
import { ENTRY_KINDS } from './address.ts'
import type { Session } from './session.ts'

export interface WireToolbarProps {
  readonly session: Session
  readonly shown: number
  readonly all: number
}

export function WireToolbar({ session, shown, all }: WireToolbarProps) {
  const { view, log } = session
  const chats = log.value.chats.size
  return (
    <div class="wire-toolbar" role="toolbar" aria-label="View and filter">
      <ViewChoice session={session} />
      <SearchField session={session} />
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
            {KIND_NAMES[kind]}
          </option>
        ))}
      </select>
      <Toggle label="Only problems" value={view.onlyProblems} />
      {chats > 1 || view.all.value ? <Toggle label="All chats" value={view.all} /> : null}
      <p class="wire-count" role="status">
        {shown === all ? '' : `${shown} of ${all}`}
      </p>
    </div>
  )
}

function ViewChoice({ session: { view } }: Pick<WireToolbarProps, 'session'>) {
  return (
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
  )
}

function SearchField({ session: { view } }: Pick<WireToolbarProps, 'session'>) {
  const field = useRef<HTMLInputElement>(null)
  useShortcut(
    '/',
    'Wire',
    'Search in entries',
    useMemo(() => () => field.current?.focus(), []),
  )
  return (
    <input
      ref={field}
      type="search"
      class="wire-search"
      aria-label="Search in entries"
      placeholder="Search"
      value={view.filter.value}
      onInput={({ currentTarget }) => (view.filter.value = currentTarget.value)}
    />
  )
}

function Toggle({ label, value }: { readonly label: string; readonly value: Session['view']['all'] }) {
  return (
    <button type="button" aria-pressed={value.value} onClick={() => (value.value = !value.value)}>
      {label}
    </button>
  )
}
