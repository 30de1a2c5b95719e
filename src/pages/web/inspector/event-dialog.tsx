/** Sends a signed event to the webhook, with the fields, the signature and the oddities that a person chooses. */

import { useState } from 'preact/hooks'
import { isMap } from '../../../base/objects.ts'
import { messageOf } from '../../../base/text/error-text.ts'
import { ControlError } from '../client/control.ts'
import { Dialog } from '../components/dialog.tsx'
import { JsonEditor } from '../components/json-editor.tsx'
import { parseJsonText } from '../model/json-text.ts'
import { Choice } from './call-dialog.tsx'
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
  const [problem, setProblem] = useState<ControlError | string | null>(null)
  const [answer, setAnswer] = useState<ManualEventAnswer | null>(null)
  const change = (part: Partial<EventForm>) => setForm({ ...form, ...part })
  const parsed = parseJsonText(form.body)
  const isReady = parsed.isValid && (parsed.value === undefined || isMap(parsed.value)) && form.event.trim() !== ''
  const send = (event: Event) => {
    event.preventDefault()
    setProblem(null)
    setAnswer(null)
    trigger(session, form).then(setAnswer, (error: unknown) =>
      setProblem(error instanceof ControlError ? error : messageOf(error)),
    )
  }
  return (
    <Dialog title="Send an event" onClose={onClose} isWide>
      <form class="act-form" onSubmit={send}>
        <EventFields form={form} change={change} />
        <JsonEditor
          label="Fields of the payload (they replace those of the chat)"
          text={form.body}
          rows={9}
          problem={problemOf(problem, 'body') ?? (parsed.isValid && !isReady ? 'The payload is a JSON object.' : null)}
          onChange={body => change({ body })}
        />
        <SendingFields form={form} change={change} problem={problem} />
        <div class="act-buttons">
          <button type="submit" class="primary" disabled={!isReady}>
            Send
          </button>
        </div>
      </form>
      <div role="status">
        {problem === null ? null : <p class="act-refused">{typeof problem === 'string' ? problem : problem.message}</p>}
        {answer === null ? null : <AckText answer={answer} />}
      </div>
    </Dialog>
  )
}

/** What the webhook answered. */
function AckText({ answer: { ack } }: { readonly answer: ManualEventAnswer }) {
  const isAccepted = ack.error === undefined && ack.status !== null
  return (
    <p class={isAccepted ? 'act-done' : 'act-refused'}>
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
    <div class="act-row">
      <label class="act-grow">
        Event
        <input
          list="event-names"
          value={form.event}
          onInput={({ currentTarget }) => change({ event: currentTarget.value })}
        />
        <datalist id="event-names">
          {EVENTS.map(name => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      <Choice
        label="Chat"
        value={form.chat}
        options={[['', 'The newest, or none'], ...chats.map(id => [id, session.chatName(id)] as const)]}
        onChange={chat => change({ chat })}
      />
      <Choice label="Signature" value={form.sign} options={SIGNS} onChange={sign => change({ sign })} />
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

function SendingFields({ form, change, problem }: FieldsProps & { readonly problem: ControlError | string | null }) {
  return (
    <details class="act-oddities">
      <summary>Delay, copies, broken bodies</summary>
      <div class="act-row">
        {TEXT_FIELDS.map(([name, label, example]) => (
          <label key={name}>
            {label}
            <input
              size={8}
              placeholder={example}
              value={form[name]}
              aria-invalid={problemOf(problem, name) !== null}
              onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
            />
            <span class="field-problem">{problemOf(problem, name)}</span>
          </label>
        ))}
        <Choice
          label="HTTP form"
          value={form.http}
          options={[
            ['', 'Usual'],
            ['header-case', 'Other case of header names'],
            ['chunked', 'Chunked body'],
          ]}
          onChange={http => change({ http: http as EventForm['http'] })}
        />
      </div>
      <div class="act-row">
        <CheckField
          label="Cut the body in the middle"
          value={form.truncate}
          onChange={truncate => change({ truncate })}
        />
        <CheckField
          label="Reset the connection after the answer"
          value={form.reset_after_answer}
          onChange={reset => change({ reset_after_answer: reset })}
        />
      </div>
    </details>
  )
}

interface CheckFieldProps {
  readonly label: string
  readonly value: boolean
  onChange(value: boolean): void
}

const CheckField = ({ label, value, onChange }: CheckFieldProps) => (
  <label class="act-check">
    <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} /> {label}
  </label>
)

/** What the server says about a field; null when it says nothing. */
function problemOf(problem: ControlError | string | null, field: string): string | null {
  if (problem === null || typeof problem === 'string') return null
  return problem.issues.find(issue => issue.field === field || issue.field.startsWith(`${field}.`))?.message ?? null
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
