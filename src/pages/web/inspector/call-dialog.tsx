/** Repeats a call with changes: method, path, key, headers and body. The key is put in by the page. */

import { useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { EntryOf } from '../../../platform/journal/entry.ts'
import type { PlatformKeys } from '../../../server/control/routes/description.ts'
import { BodyView } from '../components/body-view.tsx'
import { Dialog } from '../components/dialog.tsx'
import { JsonEditor } from '../components/json-editor.tsx'
import { parseJsonText } from '../model/json-text.ts'
import { ChoiceField, TextField } from './fields.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export interface CallDialogProps {
  readonly call: EntryOf<'api'>
  onClose(): void
}

interface CallForm {
  readonly method: string
  readonly path: string
  readonly key: KeyChoice
  /** One `name: value` in each line. */
  readonly headers: string
  readonly body: string
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const KEYS = {
  handover: 'API key',
  bot: 'Bot API key',
  wrong: 'A key that no bot has',
  none: 'No key',
} as const
type KeyChoice = keyof typeof KEYS

interface CallAnswer {
  readonly status: number
  readonly text: string
}

export function CallDialog({ call, onClose }: CallDialogProps) {
  const session = useSession()
  const [form, setForm] = useState(() => formOf(call))
  const [answer, setAnswer] = useState<CallAnswer | { readonly failure: string } | null>(null)
  const change = (part: Partial<CallForm>) => setForm({ ...form, ...part })
  const isReady = form.method === 'GET' || parseJsonText(form.body).isValid
  const send = (event: Event) => {
    event.preventDefault()
    sendCall(session, form).then(setAnswer, (error: unknown) => setAnswer({ failure: messageOf(error) }))
  }
  return (
    <Dialog title={`Repeat call #${call.seq} with changes`} onClose={onClose} isWide>
      <form class="form" onSubmit={send}>
        <div class="field-row">
          <ChoiceField
            label="Method"
            value={form.method}
            options={methodsWith(form.method)}
            onChange={method => change({ method })}
          />
          <TextField label="Path" isWide value={form.path} onChange={path => change({ path })} />
          <ChoiceField
            label="Key"
            value={form.key}
            options={Object.entries(KEYS)}
            onChange={key => change({ key: key as KeyChoice })}
          />
        </div>
        <TextField
          label="Headers"
          rows={Math.max(2, form.headers.split('\n').length)}
          class="code"
          spellcheck={false}
          value={form.headers}
          onChange={headers => change({ headers })}
        />
        {form.method === 'GET' ? null : (
          <JsonEditor label="Body" text={form.body} rows={10} onChange={body => change({ body })} />
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={!isReady}>
            Send
          </button>
        </div>
      </form>
      <Answer answer={answer} />
    </Dialog>
  )
}

function Answer({ answer }: { readonly answer: CallAnswer | { readonly failure: string } | null }) {
  if (answer === null) return <div role="status" />
  if ('failure' in answer)
    return (
      <p class="refusal" role="status">
        The call was not sent: {answer.failure}
      </p>
    )
  const parsed = parseJsonText(answer.text)
  return (
    <div role="status" class={answer.status >= 400 ? 'refusal' : 'success'}>
      <p>
        <strong>Answer {answer.status}.</strong> Its entry is selected in the wire.
      </p>
      {answer.text === '' ? null : (
        <BodyView payload={parsed.isValid ? parsed.value : answer.text} exact={answer.text} label="Answer" />
      )}
    </div>
  )
}

const methodsWith = (method: string) => [...new Set([...METHODS, method])].map(name => [name, name] as const)

/** Headers that the browser sets itself, and the key. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|content-length|authorization|user-agent|accept-encoding|accept-language|origin|referer|cookie|sec-.*|x-request-id|transfer-encoding|te|upgrade|expect)$/i

const formOf = ({ method, path, endpoint, request }: EntryOf<'api'>): CallForm => ({
  method,
  path,
  key: endpoint === 'chat' ? 'bot' : 'handover',
  headers: Object.entries(request.headers)
    .filter(([name]) => !OWN_HEADERS.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n'),
  body: typeof request.body === 'string' ? request.body : JSON.stringify(request.body ?? {}, null, 2),
})

function sendCall(session: Session, form: CallForm): Promise<CallAnswer> {
  const requestId = `page-repeat-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  return session.selectNextEntry(
    entry => entry.kind === 'api' && entry.request.headers['x-request-id'] === requestId,
    () => fetchAnswer(session, form, requestId),
  )
}

async function fetchAnswer(session: Session, form: CallForm, requestId: string): Promise<CallAnswer> {
  const { method, path, key, headers, body } = form
  const authorization = await authorizationOf(session, key)
  const response = await fetch(new URL(path.replace(/^\/+/, ''), session.origin), {
    method,
    headers: [...headersIn(headers), ...authorization, ['x-request-id', requestId]],
    ...(method === 'GET' ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

async function authorizationOf({ client }: Session, key: KeyChoice): Promise<[string, string][]> {
  if (key === 'none') return []
  if (key === 'wrong') return [['authorization', 'Bearer no-such-key']]
  const keys = await client.send<PlatformKeys>('GET', '/keys')
  return [['authorization', `Bearer ${key === 'bot' ? keys.bot_api_key : keys.api_key}`]]
}

const headersIn = (text: string): [string, string][] =>
  text.split('\n').flatMap(line => {
    const [name = '', ...value] = line.split(':')
    return name.trim() === '' ? [] : [[name.trim(), value.join(':').trim()]]
  })
