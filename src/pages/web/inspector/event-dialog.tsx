/** Sends a signed event to the webhook, with the fields, the signature and the oddities that a person chooses. */

import { useState } from 'preact/hooks'
import { isMap } from '../../../base/objects.ts'
import type { ControlIssue } from '../client/control.ts'
import { Dialog } from '../components/dialog.tsx'
import { JsonEditor } from '../components/json-editor.tsx'
import { parseJsonText } from '../model/json-text.ts'
import { ChoiceField, OtherProblems, problemOf, SwitchField, TextField, useSubmission } from './fields.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export interface EventDialogProps {
  /** The event with which the form begins. */
  readonly first: { readonly event: string; readonly chatId: string | undefined; readonly payload: unknown } | undefined
  onClose(): void
}

interface EventForm {
  readonly event: string
  readonly chat: string
  readonly body: string
  readonly sign: string
  readonly delay: string
  readonly duplicate: string
  readonly gap: string
  readonly drip: string
  readonly http: '' | 'header-case' | 'chunked'
  readonly truncate: boolean
  readonly reset_after_answer: boolean
}

/** The names of the platform; others can be written. */
const EVENTS = ['REQUESTING TAKEOVER', 'MESSAGE FROM USER', 'AGENT TYPING START', 'AGENT TYPING STOP'] as const

const SIGNS = [
  ['valid', 'Valid'],
  ['none', 'None'],
  ['wrong-key', 'Made with another key'],
  ['tampered', 'Body changed after signing'],
  ['truncated', 'End cut off'],
  ['hex', 'In the other encoding'],
] as const

interface ManualEventAnswer {
  readonly delivery_id: string
  readonly ack: { readonly status: number | null; readonly duration_ms: number; readonly error?: string }
}

export function EventDialog({ first, onClose }: EventDialogProps) {
  const session = useSession()
  const [form, setForm] = useState(() => formOf(session, first))
  const { issues, save } = useSubmission()
  const [answer, setAnswer] = useState<ManualEventAnswer | null>(null)
  const change = (part: Partial<EventForm>) => setForm({ ...form, ...part })
  const parsed = parseJsonText(form.body)
  const isReady = parsed.isValid && (parsed.value === undefined || isMap(parsed.value)) && form.event.trim() !== ''
  const send = (event: Event) => {
    event.preventDefault()
    setAnswer(null)
    void save(async () => setAnswer(await trigger(session, form)))
  }
  return (
    <Dialog title="Send an event" onClose={onClose} isWide>
      <form class="form" onSubmit={send}>
        <EventFields form={form} change={change} />
        <JsonEditor
          label="Fields of the payload (they replace those of the chat)"
          text={form.body}
          rows={9}
          problem={problemOf(issues, 'body') ?? (parsed.isValid && !isReady ? 'The payload is a JSON object.' : null)}
          onChange={body => change({ body })}
        />
        <SendingFields form={form} change={change} issues={issues} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={!isReady}>
            Send
          </button>
        </div>
      </form>
      <div role="status">
        <OtherProblems issues={issues} names={NAMED} />
        {answer === null ? null : <AckText answer={answer} />}
      </div>
    </Dialog>
  )
}

/** What the webhook answered. */
function AckText({ answer: { ack } }: { readonly answer: ManualEventAnswer }) {
  const isAccepted = ack.error === undefined && ack.status !== null
  return (
    <p class={isAccepted ? 'success' : 'refusal'}>
      <strong>{ack.status === null ? 'No answer.' : `Answer ${ack.status}.`}</strong> {ack.error ?? ''} The delivery is
      selected in the wire.
    </p>
  )
}

interface FieldsProps {
  readonly form: EventForm
  change(part: Partial<EventForm>): void
}

function EventFields({ form, change }: FieldsProps) {
  const session = useSession()
  const chats = [...session.log.value.chats.keys()].slice(-MOST_CHATS).reverse()
  return (
    <div class="field-row">
      <TextField label="Event" isWide suggestions={EVENTS} value={form.event} onChange={event => change({ event })} />
      <ChoiceField
        label="Chat"
        value={form.chat}
        options={[['', 'The newest, or none'], ...chats.map(id => [id, session.chatName(id)] as const)]}
        onChange={chat => change({ chat })}
      />
      <ChoiceField label="Signature" value={form.sign} options={SIGNS} onChange={sign => change({ sign })} />
    </div>
  )
}

/** The newest chats are offered. */
const MOST_CHATS = 200

const TEXT_FIELDS = [
  ['delay', 'Sent later by', '2s'],
  ['duplicate', 'Copies in all', '2'],
  ['gap', 'Between copies', '500ms'],
  ['drip', 'Body sent slowly over', '3s'],
] as const

/** The fields that show their own problems. */
const NAMED = ['body', ...TEXT_FIELDS.map(([name]) => name)]

const HTTP_FORMS = [
  ['', 'Usual'],
  ['header-case', 'Other case of header names'],
  ['chunked', 'Chunked body'],
] as const

function SendingFields({ form, change, issues }: FieldsProps & { readonly issues: readonly ControlIssue[] }) {
  return (
    <details class="fold">
      <summary>Delay, copies, broken bodies</summary>
      <div class="field-row">
        {TEXT_FIELDS.map(([name, label, example]) => (
          <TextField
            key={name}
            label={label}
            size={8}
            placeholder={example}
            value={form[name]}
            problem={problemOf(issues, name)}
            onChange={value => change({ [name]: value })}
          />
        ))}
        <ChoiceField
          label="HTTP form"
          value={form.http}
          options={HTTP_FORMS}
          onChange={http => change({ http: http as EventForm['http'] })}
        />
      </div>
      <div class="field-row">
        <SwitchField isOn={form.truncate} onChange={truncate => change({ truncate })}>
          Cut the body in the middle
        </SwitchField>
        <SwitchField isOn={form.reset_after_answer} onChange={reset => change({ reset_after_answer: reset })}>
          Reset the connection after the answer
        </SwitchField>
      </div>
    </details>
  )
}

function formOf({ chatId }: Session, first: EventDialogProps['first']): EventForm {
  const { event, ...fields }: Readonly<Record<string, unknown>> = isMap(first?.payload) ? first.payload : {}
  return {
    event: first?.event ?? 'MESSAGE FROM USER',
    chat: first?.chatId ?? chatId.peek() ?? '',
    body: JSON.stringify(first === undefined ? { message: 'Hello' } : fields, null, 2),
    sign: 'valid',
    delay: '',
    duplicate: '',
    gap: '',
    drip: '',
    http: '',
    truncate: false,
    reset_after_answer: false,
  }
}

/** Fields that are left empty are not sent. */
async function trigger(session: Session, form: EventForm): Promise<ManualEventAnswer> {
  const { event, chat, body, sign, duplicate, truncate, reset_after_answer, ...texts } = form
  const parsed = parseJsonText(body)
  const given = Object.entries(texts).filter(([, text]) => text !== '')
  const sent = {
    event,
    ...(chat !== '' && { chat_id: chat }),
    ...(parsed.isValid && parsed.value !== undefined && { body: parsed.value }),
    sign,
    ...Object.fromEntries(given),
    ...(duplicate !== '' && { duplicate: Number.isNaN(Number(duplicate)) ? duplicate : Number(duplicate) }),
    ...(truncate && { truncate }),
    ...(reset_after_answer && { reset_after_answer }),
  }
  return session.selectNextEntry(
    entry => entry.kind === 'delivery' && entry.triggered === true && entry.event === event,
    () => session.client.send<ManualEventAnswer>('POST', '/trigger', { body: sent }),
  )
}
