/** Sends a signed event to the webhook, with the fields, the signature and the oddities that a person chooses. */

import { useState } from 'preact/hooks'
import { isMap } from '../../../base/objects.ts'
import { Dialog } from '../components/dialog.tsx'
import { JsonEditor } from '../components/json-editor.tsx'
import { parseJsonText } from '../model/json-text.ts'
import { ChoiceField, DialogButtons, OtherProblems, problemOf, TextField, useSubmission } from './fields.tsx'
import { useSession } from './session-context.ts'

export interface EventDialogProps {
  /** The event with which the form begins. */
  readonly first: { readonly event: string; readonly chatId: string | undefined; readonly payload: unknown } | undefined
  onClose(): void
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

const TEXT_FIELDS = [
  ['delay', 'Sent later by', '2s'],
  ['duplicate', 'Copies in all', '2'],
  ['gap', 'Between copies', '500ms'],
  ['drip', 'Body sent slowly over', '3s'],
] as const

const HTTP_FORMS = [
  ['', 'Usual'],
  ['header-case', 'Other case of header names'],
  ['chunked', 'Chunked body'],
] as const

const FLAGS = [
  ['truncate', 'Cut the body in the middle'],
  ['reset_after_answer', 'Reset the connection after the answer'],
] as const

/** The newest chats are offered. */
const MAX_CHATS = 200

interface ManualEventResult {
  readonly ack: { readonly status: number | null; readonly error?: string }
}

export function EventDialog({ first, onClose }: EventDialogProps) {
  const session = useSession()
  const [text, setText] = useState(() => payloadText(first))
  const { issues, save } = useSubmission()
  const [result, setResult] = useState<ManualEventResult | null>(null)
  const parsed = parseJsonText(text)
  const isObject = parsed.isValid && (parsed.value === undefined || isMap(parsed.value))
  const chats = [...session.log.value.chats.keys()].slice(-MAX_CHATS).reverse()
  const send = (submitted: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    submitted.preventDefault()
    setResult(null)
    const body: Record<string, unknown> = parsed.isValid && parsed.value !== undefined ? { body: parsed.value } : {}
    for (const [name, value] of new FormData(submitted.currentTarget)) {
      // Fields that are left empty are not sent. A number that is none stays a text, so that the server can name it.
      if (value === '') continue
      if (name === 'duplicate' && !Number.isNaN(Number(value))) body[name] = Number(value)
      else body[name] = FLAGS.some(([flag]) => flag === name) || value
    }
    const trigger = () => session.client.send<ManualEventResult>('POST', '/trigger', { body })
    void save(async () =>
      setResult(
        await session.selectNextEntry(
          entry => entry.kind === 'delivery' && entry.triggered === true && entry.event === body.event,
          trigger,
        ),
      ),
    )
  }
  return (
    <Dialog title="Send an event" onClose={onClose} isWide>
      <form class="form" onSubmit={send}>
        <div class="field-row">
          <TextField
            label="Event"
            name="event"
            isWide
            required
            suggestions={EVENTS}
            initial={first?.event ?? 'MESSAGE FROM USER'}
          />
          <ChoiceField
            label="Chat"
            name="chat_id"
            initial={first?.chatId ?? session.chatId.peek() ?? ''}
            options={[['', 'The newest, or none'], ...chats.map(id => [id, session.chatName(id)] as const)]}
          />
          <ChoiceField label="Signature" name="sign" options={SIGNS} />
        </div>
        <JsonEditor
          label="Fields of the payload (they replace those of the chat)"
          text={text}
          rows={9}
          problem={problemOf(issues, 'body') ?? (parsed.isValid && !isObject ? 'The payload is a JSON object.' : null)}
          onChange={setText}
        />
        <details class="fold">
          <summary>Delay, copies, broken bodies</summary>
          <div class="field-row">
            {TEXT_FIELDS.map(([name, label, example]) => (
              <TextField
                key={name}
                name={name}
                label={label}
                size={8}
                placeholder={example}
                problem={problemOf(issues, name)}
              />
            ))}
            <ChoiceField label="HTTP form" name="http" options={HTTP_FORMS} />
          </div>
          <div class="field-row">
            {FLAGS.map(([name, label]) => (
              <label key={name} class="switch">
                <input type="checkbox" name={name} /> {label}
              </label>
            ))}
          </div>
        </details>
        <DialogButtons act="Send" isDisabled={!isObject} onCancel={onClose} />
      </form>
      <div role="status">
        <OtherProblems issues={issues} names={['body', ...TEXT_FIELDS.map(([name]) => name)]} />
        {result === null ? null : <AckText result={result} />}
      </div>
    </Dialog>
  )
}

/** What the webhook answered. */
function AckText({ result: { ack } }: { readonly result: ManualEventResult }) {
  const isAccepted = ack.error === undefined && ack.status !== null
  return (
    <p class={isAccepted ? 'success' : 'refusal'}>
      <strong>{ack.status === null ? 'No answer.' : `Answer ${ack.status}.`}</strong> {sentence(ack.error ?? '')} The
      delivery is selected in the wire.
    </p>
  )
}

/** Begins with a capital letter and ends with a full stop. */
const sentence = (text: string): string =>
  text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

function payloadText(first: EventDialogProps['first']): string {
  const { event, ...fields }: Readonly<Record<string, unknown>> = isMap(first?.payload) ? first.payload : {}
  return JSON.stringify(first === undefined ? { message: 'Hello' } : fields, null, 2)
}
