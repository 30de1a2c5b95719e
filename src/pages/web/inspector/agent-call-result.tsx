/** Shows the last call of the desk: what the platform answered in words, its entry, and the call as code. */

import { isMap } from '../../../base/objects.ts'
import type { EndpointId } from '../../../platform/contract/endpoint-routes.ts'
import type { PlatformAnswer } from '../client/control.ts'
import { CallCode } from '../components/call-code.tsx'
import { Payload } from '../components/entry-details.tsx'
import { platformRefusal } from '../model/agent-queue.ts'
import { showEntry } from './address.ts'
import { useSession } from './session-context.ts'

export function AgentCallResult() {
  const session = useSession()
  const { agentSide: side } = useSession()
  const call = side.lastCall.value
  if (call === null) return null
  const answer = call.answer.value
  const seq = side.entryOf(call)
  return (
    <section class="desk-call" aria-label="Last call">
      <header>
        <h3>
          {call.code.method} {new URL(call.code.url).pathname.replace(/^.*\/(api\/v\d\/)/, '$1')}
        </h3>
        {seq === null ? null : (
          <button type="button" class="link" onClick={() => showEntry(session.view, seq)}>
            Entry #{seq}
          </button>
        )}
      </header>
      <div role="status">
        {answer === null ? (
          <p class="hint">Waiting for the answer.</p>
        ) : (
          <Answer endpoint={call.endpoint} answer={answer} />
        )}
      </div>
      <details>
        <summary>The call as code</summary>
        <CallCode call={call.code} />
        <p class="hint">Put the key into {call.code.keyVariable} first. The platform column has it.</p>
      </details>
    </section>
  )
}

interface AnswerProps {
  readonly endpoint: EndpointId
  readonly answer: PlatformAnswer | { readonly failure: string }
}

function Answer({ endpoint, answer }: AnswerProps) {
  if ('failure' in answer) return <p class="refusal">The server did not answer: {answer.failure}</p>
  const { status, body } = answer
  if (status >= 400) return <Refusal status={status} body={body} />
  return (
    <>
      <p class="desk-done">
        {status} {DONE_TEXTS[endpoint]}
      </p>
      {endpoint === 'summarize' && isMap(body) && typeof body.summary === 'string' ? (
        <blockquote dir="auto">{body.summary}</blockquote>
      ) : (
        <details>
          <summary>The answer</summary>
          <Payload payload={body} />
        </details>
      )}
    </>
  )
}

const DONE_TEXTS = {
  start: 'The agent has the chat.',
  end: 'The bot has the chat again.',
  message: 'The user sees the message.',
  typing_start: 'The user sees that the agent types.',
  typing_stop: 'The user no longer sees it.',
  transcript: 'The messages before the request.',
  summarize: 'A summary of the chat.',
  availability: 'The availability is set.',
  chat: 'The chat with all its messages.',
}

function Refusal({ status, body }: PlatformAnswer) {
  const refusal = platformRefusal(body)
  return (
    <div class="refusal">
      <p>
        <strong>Refused with {status}.</strong> {refusal?.text}
      </p>
      {refusal?.field == null ? null : (
        <p>
          Field: <code>{refusal.field}</code>
        </p>
      )}
      {refusal === null ? <Payload payload={body} /> : null}
    </div>
  )
}
