/** Repeats a call with changes: method, path, key, headers and body. The key is put in by the page. */

import { useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { EntryOf } from '../../../platform/journal/entry.ts'
import type { PlatformKeys } from '../../../server/control/routes/description.ts'
import { BodyView } from '../components/body-view.tsx'
import { Dialog } from '../components/dialog.tsx'
import { JsonEditor } from '../components/json-editor.tsx'
import { parseJsonText } from '../model/json-text.ts'
import { ChoiceField, DialogButtons, OtherProblems, TextField, useSubmission } from './fields.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

export interface CallDialogProps {
  readonly call: EntryOf<'api'>
  onClose(): void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const KEYS = [
  ['handover', 'API key'],
  ['bot', 'Bot API key'],
  ['wrong', 'A key that no bot has'],
  ['none', 'No key'],
] as const

interface CallResult {
  readonly status: number
  readonly text: string
}

export function CallDialog({ call, onClose }: CallDialogProps) {
  const session = useSession()
  const { method, path, endpoint, request } = call
  const [body, setBody] = useState(
    typeof request.body === 'string' ? request.body : JSON.stringify(request.body ?? {}, null, 2),
  )
  const [result, setResult] = useState<CallResult | null>(null)
  const { issues, save } = useSubmission()
  const headers = Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.test(name))
  const send = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    setResult(null)
    const form = new FormData(event.currentTarget)
    void save(async () => setResult(await sendCall(session, form, body)))
  }
  return (
    <Dialog title={`Repeat call #${call.seq} with changes`} onClose={onClose} isWide>
      <form class="form" onSubmit={send}>
        <div class="field-row">
          <ChoiceField
            label="Method"
            name="method"
            initial={method}
            options={[...new Set([...METHODS, method])].map(name => [name, name])}
          />
          <TextField label="Path" name="path" isWide initial={path} />
          <ChoiceField label="Key" name="key" initial={endpoint === 'chat' ? 'bot' : 'handover'} options={KEYS} />
        </div>
        <TextField
          label="Headers"
          name="headers"
          rows={Math.max(2, headers.length)}
          class="code"
          spellcheck={false}
          initial={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        />
        <JsonEditor label="Body (not sent with GET)" text={body} rows={10} onChange={setBody} />
        <DialogButtons act="Send" isDisabled={!parseJsonText(body).isValid} onCancel={onClose} />
      </form>
      <div role="status">
        <OtherProblems issues={issues} names={[]} />
        {result === null ? null : <CallResultView result={result} />}
      </div>
    </Dialog>
  )
}

function CallResultView({ result: { status, text } }: { readonly result: CallResult }) {
  const parsed = parseJsonText(text)
  return (
    <div class={status >= 400 ? 'refusal' : 'success'}>
      <p>
        <strong>Answer {status}.</strong> Its entry is selected in the wire.
      </p>
      {text === '' ? null : <BodyView payload={parsed.isValid ? parsed.value : text} exact={text} label="Answer" />}
    </div>
  )
}

/** Headers that the browser sets itself, and the key. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|content-length|authorization|user-agent|accept-encoding|accept-language|origin|referer|cookie|sec-.*|x-request-id|transfer-encoding|te|upgrade|expect)$/i

function sendCall({ client, origin, selectNextEntry }: Session, form: FormData, body: string): Promise<CallResult> {
  const text = (name: string) => String(form.get(name) ?? '')
  const requestId = `page-repeat-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const headers: [string, string][] = [['x-request-id', requestId]]
  // One `name: value` in each line.
  for (const line of text('headers').split('\n')) {
    const [name = '', ...value] = line.split(':')
    if (name.trim() !== '') headers.push([name.trim(), value.join(':').trim()])
  }
  return selectNextEntry(
    entry => entry.kind === 'api' && entry.request.headers['x-request-id'] === requestId,
    async () => {
      const [method, key] = [text('method'), text('key')]
      if (key !== 'none') {
        const keys = await client.send<PlatformKeys>('GET', '/keys')
        const value = key === 'wrong' ? 'no-such-key' : key === 'bot' ? keys.bot_api_key : keys.api_key
        headers.push(['authorization', `Bearer ${value}`])
      }
      const url = new URL(text('path').replace(/^\/+/, ''), origin)
      const sent = fetch(url, { method, headers, ...(method !== 'GET' && { body }) })
      const response = await sent.catch((error: unknown) => {
        throw new Error(`The call was not sent: ${messageOf(error)}`)
      })
      return { status: response.status, text: await response.text() }
    },
  )
}
