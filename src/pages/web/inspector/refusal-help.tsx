/** Says what is known about a refused event, and finds out why it was refused. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import type { Entry, EntryOf } from '../../../platform/journal/entry.ts'
import { evidenceFor, evidenceText, isComparable } from '../../../platform/webhooks/refusal-evidence.ts'
import type { DiagnosisResponse } from '../../../server/control/routes/deliveries.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { countUntil } from '../model/journal-log.ts'
import { type CodeRequest, sentRequest } from '../model/snippets.ts'
import { EntryLink, OtherProblems, TextField, useSubmission } from './fields.tsx'
import { useDraft, useSession } from './session-context.ts'

type Delivery = EntryOf<'delivery'>

/** Also where the platform demands no 200: the test event is one. */
export const isDiagnosable = (entry: Entry): entry is Delivery =>
  entry.kind === 'delivery' && entry.status !== null && entry.status >= 400 && entry.status < 500 && isComparable(entry)

/** The request of a delivery with its signature, which entries of the page do not have; null until it is loaded. */
export function useSentRequest({ delivery_id }: Delivery): CodeRequest | null {
  const { client, act } = useSession()
  const [request, setRequest] = useState<CodeRequest | null>(null)
  useEffect(() => {
    const path = `/deliveries/${encodeURIComponent(delivery_id)}`
    act(async () => setRequest(sentRequest(await client.send<Delivery>('GET', path))))
  }, [client, delivery_id])
  return request
}

export function RefusalHelp({ entry }: { readonly entry: Delivery }) {
  const { log, view } = useSession()
  const { entries } = log.value
  const known = useMemo(
    () => evidenceFor(entry, entries.slice(0, countUntil(entries, entry.seq))).map(evidenceText),
    [entry, entries],
  )
  const [diagnosis, setFound] = useDraft<DiagnosisResponse | null>('diagnosis', null, entry.delivery_id)
  const { issues, isPending, save } = useSubmission()
  const path = `/deliveries/${encodeURIComponent(entry.delivery_id)}/diagnose`
  const diagnose = () =>
    void save(async client => setFound(await client.send<DiagnosisResponse>('POST', path, { body: {} })))
  return (
    <>
      {known.map(text => (
        <p key={text}>{text}</p>
      ))}
      <div role="status">{diagnosis === null ? null : <Result found={diagnosis} />}</div>
      <div class="buttons">
        <button
          type="button"
          class={diagnosis === null ? 'primary' : ''}
          disabled={isPending || view.at.value !== null}
          onClick={diagnose}
        >
          {isPending ? 'Trying the usual mistakes' : diagnosis === null ? 'Find out why' : 'Try again'}
        </button>
        {diagnosis === null ? (
          <span class="hint">
            It sends AGENT TYPING STOP, which has no effect on a help desk, signed with usual mistakes.
          </span>
        ) : null}
      </div>
      <OtherProblems issues={issues} names={[]} />
      <Signature entry={entry} path={path} />
    </>
  )
}

function Result({ found: { text, fix, shown_by, probes } }: { readonly found: DiagnosisResponse }) {
  return (
    <div class="stack">
      <p class="diagnosis">{text}</p>
      {fix === null ? null : <p>{fix}</p>}
      {shown_by === null ? null : (
        <p>
          <EntryLink seq={shown_by}>Show </EntryLink>
        </p>
      )}
      {probes.length === 0 ? null : (
        <details class="fold">
          <summary>{counted(probes.length, 'event')} sent to find out</summary>
          <ul class="entry-remarks">
            {probes.map(({ seq, text: trial, status, accepted }) => (
              <li key={seq}>
                <EntryLink seq={seq} /> {trial}{' '}
                {accepted ? <b>Accepted.</b> : status === null ? 'No answer.' : `Answered ${status}.`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

interface SignatureProps {
  readonly entry: Delivery
  /** Of the diagnosis. */
  readonly path: string
}

/** The signature that was sent, and what is wrong with the one that the service computed. */
function Signature({ entry, path }: SignatureProps) {
  const headers = Object.entries(useSentRequest(entry)?.headers ?? {})
  const sent = headers.find(([name, value]) => entry.request.headers[name] === MASKED && value !== MASKED)
  const [typed, setTyped] = useDraft('computed signature', '', entry.delivery_id)
  const [explained, setExplained] = useState<DiagnosisResponse['pasted']>(null)
  const { issues, save } = useSubmission()
  if (sent === undefined) return null
  const [name, value] = sent
  const submit = (event: Event) => {
    event.preventDefault()
    const body = { signature: typed.trim() }
    void save(async client => setExplained((await client.send<DiagnosisResponse>('POST', path, { body })).pasted))
  }
  return (
    <>
      <p>
        {name}: <code>{value}</code> <CopyButton text={value} what="the signature" />
      </p>
      <form class="stack" onSubmit={submit}>
        <TextField
          label="Paste what your code computed"
          class="code"
          spellcheck={false}
          value={typed}
          onChange={setTyped}
        />
        <div class="buttons">
          <button type="submit" disabled={typed.trim() === ''}>
            Explain the difference
          </button>
        </div>
      </form>
      <OtherProblems issues={issues} names={[]} />
      <div role="status">
        {explained === null ? null : (
          <p>
            <b>{explained.text}</b> {explained.fix}
          </p>
        )}
      </div>
    </>
  )
}

/** As entries show what is secret. */
const MASKED = '***'
