/** What can be done with an entry: send a delivery again, edit an event and send it, repeat a call, copy an id. */

import type { Signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { jsonOr } from '../../../base/objects.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { CallCode } from '../components/call-code.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Fact } from '../components/failure-cards.tsx'
import { codeCallOf, requestOf } from '../model/snippets.ts'
import { CallDialog } from './call-dialog.tsx'
import { EventDialog, type EventDialogProps } from './event-dialog.tsx'
import { usePlatformStore } from './platform/platform-section.tsx'
import { useSentRequest } from './refusal-help.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

/** The dialog that is open. It stays while other entries are selected. */
export type ActionDialog =
  | { readonly kind: 'call'; readonly call: EntryOf<'api'> }
  | { readonly kind: 'event'; readonly first?: EventDialogProps['first'] }

interface ActionProps {
  readonly dialog: Signal<ActionDialog | null>
}

interface EntryActionsProps extends ActionProps {
  readonly entry: Entry
}

export function OpenDialog({ dialog }: ActionProps) {
  const open = dialog.value
  const close = () => (dialog.value = null)
  if (open === null) return null
  if (open.kind === 'call') return <CallDialog call={open.call} onClose={close} />
  return <EventDialog first={open.first} onClose={close} />
}

export function EntryActions({ dialog, entry }: EntryActionsProps) {
  const session = useSession()
  const { moment, proxy } = usePlatformStore()
  const keys = moment.value?.keys ?? null
  const canAct = proxy.value === null
  const isEvent = entry.kind === 'delivery' || entry.kind === 'event'
  /** The ids that other programs need. */
  const ids = [['Chat', entry.chat_id] as const, ['Delivery', isEvent ? entry.delivery_id : undefined] as const]
  return (
    <>
      {entry.kind === 'api' && canAct ? (
        <>
          <div class="buttons entry-actions">
            <button type="button" onClick={() => (dialog.value = { kind: 'call', call: entry })}>
              Repeat with changes
            </button>
            {entry.endpoint === null ? null : (
              <button
                type="button"
                title={`The next ${entry.endpoint} answers 503`}
                onClick={() => session.act(() => failNext(session, entry.endpoint))}
              >
                Fail this next time
              </button>
            )}
          </div>
          <details class="entry-code">
            <summary>Copy as curl, fetch or test</summary>
            <CallCode request={requestOf(codeCallOf(entry, session.origin), keys)} />
          </details>
        </>
      ) : null}
      {isEvent && canAct ? (
        <div class="buttons entry-actions">
          <button type="button" onClick={() => session.act(() => resend(session, entry.delivery_id, false))}>
            Send the same bytes again
          </button>
          <button type="button" onClick={() => session.act(() => resend(session, entry.delivery_id, true))}>
            Sign and send again
          </button>
          <button type="button" onClick={() => (dialog.value = { kind: 'event', first: prefillEvent(entry) })}>
            Edit and send
          </button>
        </div>
      ) : null}
      {entry.kind === 'delivery' && entry.url !== null && canAct ? <DeliveryCode entry={entry} /> : null}
      <dl class="entry-ids pairs" hidden={ids.every(([, id]) => id === undefined)}>
        {ids.map(([name, id]) =>
          id === undefined ? null : (
            <Fact key={name} name={name}>
              <code>{id}</code> <CopyButton text={id} what={`the id of the ${name.toLowerCase()}`} />
            </Fact>
          ),
        )}
      </dl>
    </>
  )
}

const failNext = ({ client }: Session, endpoint: string | null) =>
  client.send('POST', '/faults', { body: { on: { api: endpoint }, respond: { status: 503 }, times: 1 } })

/** The signature is loaded when it is needed: journal entries do not have it. */
function DeliveryCode({ entry }: { readonly entry: EntryOf<'delivery'> }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="entry-code" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Copy as curl, fetch or test</summary>
      {isOpen ? <SentCode entry={entry} /> : null}
    </details>
  )
}

function SentCode({ entry }: { readonly entry: EntryOf<'delivery'> }) {
  const request = useSentRequest(entry)
  return request === null ? null : <CallCode request={request} />
}

/** The entry of the new attempt has the answer of the webhook. */
function resend(session: Session, deliveryId: string, isSigned: boolean): Promise<unknown> {
  const path = `/deliveries/${encodeURIComponent(deliveryId)}/resend`
  return session.selectNextEntry(
    entry => entry.kind === 'delivery' && entry.delivery_id === deliveryId,
    () => session.client.send('POST', path, { query: { resign: String(isSigned) } }),
  )
}

function prefillEvent(entry: EntryOf<'delivery' | 'event'>): EventDialogProps['first'] {
  const payload = entry.kind === 'event' ? entry.payload : jsonOr(entry.request.body, {})
  return { event: entry.event, chatId: entry.chat_id, payload }
}
