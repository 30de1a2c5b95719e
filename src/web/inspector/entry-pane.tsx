/** Shows the details of the selected entry, or how it differs from a second one. */
import { CallCode } from '../components/call-code.tsx'
import { EntryDetails } from '../components/entry-details.tsx'
import { codeCallOf } from '../model/snippets.ts'
import type { Session } from './session.ts'

export interface EntryPaneProps {
  readonly session: Session
  onClose(): void
}

export function EntryPane({ session, onClose }: EntryPaneProps) {
  const { view, log, version } = session
  const selected = version.value >= 0 ? view.entry.value : null
  const shown = selected === null ? undefined : log.value.entry(selected)
  if (shown === undefined) return null
  return (
    <EntryDetails entry={shown} effects={log.value.effects(shown.seq)} onSelect={seq => (view.entry.value = seq)}>
      <button type="button" class="quiet" onClick={onClose}>
        Close
      </button>
      {shown.kind === 'api' ? <CallCode call={codeCallOf(shown, session.origin)} /> : null}
    </EntryDetails>
  )
}
