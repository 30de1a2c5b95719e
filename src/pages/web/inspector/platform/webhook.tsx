/** Sets the URL of the webhook, sends a test event, and shows whether it answers. */

import { useId } from 'preact/hooks'
import { deliveryAnswer } from '../../../../evaluation/timeline/entry-line.ts'
import { explainEntry } from '../../../../platform/wording/hints.ts'
import { moment as momentText } from '../../model/formats.ts'
import type { WebhookHealth } from '../../model/webhook-health.ts'
import { EntryLink, FieldMessage, OtherProblems, problemOf } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
import { Address, MoreKeys } from './keys.tsx'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'

const STATES = {
  no_url: { text: 'no URL', look: 'skipped' },
  untested: { text: 'set', look: 'skipped' },
  accepting: { text: 'answers', look: 'pass' },
  failing: { text: 'fails', look: 'fail' },
} as const

export function WebhookSection() {
  const moment = usePlatform()
  const { health } = moment
  const { text, look } = STATES[health.state]
  return (
    <PlatformSection name="webhook" title="Webhook" summary={<span class={`platform-state ${look}`}>{text}</span>}>
      <UrlForm />
      <TestEvent />
      <Health health={health} />
      <Address />
      <MoreKeys />
    </PlatformSection>
  )
}

export function UrlForm() {
  const { config, isPast } = usePlatform()
  const url = config['webhook.url']
  const current = typeof url === 'string' ? url : ''
  const [typed, setTyped] = useDraft<string | null>('webhook', null)
  const saving = useSaving()
  const id = useId()
  const set = async (value: string | null) => {
    if (await saving.send('PATCH', '/config', { 'webhook.url': value })) setTyped(null)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (typed !== null) void set(typed === '' ? null : typed)
  }
  const isWrong = saving.issues.length > 0
  return (
    <form class="stack" onSubmit={submit} noValidate>
      <fieldset class="field" disabled={isPast || saving.isPending}>
        <label for={id}>URL that gets the events</label>
        <span class="platform-joined">
          <input
            id={id}
            type="url"
            value={typed ?? current}
            placeholder="http://127.0.0.1:3000/webhook"
            autocomplete="off"
            spellcheck={false}
            aria-invalid={isWrong}
            aria-describedby={`${id}problem`}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          {current !== '' && (typed === null || typed === current) ? (
            <button type="button" onClick={() => void set(null)}>
              Clear
            </button>
          ) : (
            <button type="submit" class="primary" disabled={typed === null || typed === current}>
              Set
            </button>
          )}
        </span>
      </fieldset>
      <FieldMessage id={`${id}problem`} text={problemOf(saving.issues, 'webhook.url')} />
      <OtherProblems issues={saving.issues} names={['webhook.url']} />
    </form>
  )
}

export function Health({ health }: { readonly health: WebhookHealth }) {
  const { state, last, notSent, failuresInARow, failingSince } = health
  const explained = last === null ? null : explainEntry(last)
  return (
    <div class="stack tight" aria-live="polite">
      {state === 'untested' ? <p class="hint">No event has been sent to this URL yet.</p> : null}
      {state === 'no_url' ? (
        <p class="hint">Without a URL, no event is sent. You can play the agent in this page.</p>
      ) : null}
      {notSent === 0 ? null : <p class="hint">{notSent === 1 ? '1 event was' : `${notSent} events were`} not sent.</p>}
      {last === null ? null : (
        <p class={state === 'failing' ? 'platform-warning' : ''}>
          {explained?.why ?? `Answered ${deliveryAnswer(last).short}`}
          {'. '}
          <EntryLink seq={last.seq}>{last.event} </EntryLink>
        </p>
      )}
      {last !== null && failuresInARow > 1 && failingSince !== null ? (
        <p class="hint">
          {failuresInARow} failures in a row, since {momentText(failingSince.time)}
        </p>
      ) : null}
      {explained === null || explained.hint === null ? null : <p class="hint">{explained.hint}</p>}
    </div>
  )
}

const TEST_EVENT = 'AGENT TYPING STOP'

export function TestEvent() {
  const session = useSession()
  const { isPast, config, health } = usePlatform()
  const saving = useSaving()
  const hasUrl = typeof config['webhook.url'] === 'string'
  const send = () =>
    saving.save(async client => {
      const chatId = session.chatId.peek() ?? (await client.send<{ chat_id: string }>('POST', '/chats')).chat_id
      await client.send('POST', '/trigger', { body: { event: TEST_EVENT, chat_id: chatId } })
    })
  return (
    <div class="stack tight">
      <div class="buttons">
        <button
          type="button"
          class={health.state === 'untested' ? 'primary' : ''}
          disabled={isPast || saving.isPending || !hasUrl}
          onClick={() => void send()}
        >
          Send a test event
        </button>
        <span class="hint">
          {hasUrl ? `${TEST_EVENT}: it has no effect on a help desk.` : 'Set the URL first.'}
          {hasUrl && session.chatId.value === null ? ' It starts a chat, because an event is about one.' : ''}
        </span>
      </div>
      <OtherProblems issues={saving.issues} names={[]} />
    </div>
  )
}
