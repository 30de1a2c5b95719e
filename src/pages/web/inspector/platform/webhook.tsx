/** Sets the URL of the webhook, shows whether it answers, and sends a test event. */

import { useId } from 'preact/hooks'
import { explainEntry } from '../../../../platform/wording/hints.ts'
import { moment as momentText } from '../../model/formats.ts'
import type { WebhookHealth } from '../../model/webhook-health.ts'
import { EntryLink, FieldProblem, OtherProblems, problemOf } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
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
      <Health health={health} />
      <TestEvent />
    </PlatformSection>
  )
}

function UrlForm() {
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
          {typed === null || typed === current ? (
            <button type="button" disabled={current === ''} onClick={() => void set(null)}>
              Clear
            </button>
          ) : (
            <button type="submit" class="primary">
              Set
            </button>
          )}
        </span>
      </fieldset>
      <FieldProblem id={`${id}problem`} text={problemOf(saving.issues, 'webhook.url')} />
      <OtherProblems issues={saving.issues} names={['webhook.url']} />
    </form>
  )
}

function Health({ health }: { readonly health: WebhookHealth }) {
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
        <p class={explained === null ? '' : 'platform-warning'}>
          {explained === null ? `Answered ${last.status} in ${Math.round(last.duration_ms)} ms` : explained.why}
          {', '}
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

/** Any event shows whether the webhook answers; the end of typing changes least at the intermediary. */
const TEST_EVENT = 'AGENT TYPING STOP'

function TestEvent() {
  const session = useSession()
  const { isPast, config } = usePlatform()
  const saving = useSaving()
  const chatId = session.chatId.value
  const hasUrl = typeof config['webhook.url'] === 'string'
  const send = () => saving.send('POST', '/trigger', { event: TEST_EVENT, chat_id: chatId })
  return (
    <div class="buttons">
      <button
        type="button"
        disabled={isPast || saving.isPending || !hasUrl || chatId === null}
        onClick={() => void send()}
      >
        Send a test event
      </button>
      <span class="hint">
        {!hasUrl ? 'Set a URL first.' : chatId === null ? 'Start a chat first: an event is about one.' : TEST_EVENT}
      </span>
      <OtherProblems issues={saving.issues} names={[]} />
    </div>
  )
}
