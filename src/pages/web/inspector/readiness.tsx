/** Says which checks of the certification the traffic has shown right or wrong, and tries one of them. */
import './readiness.css'
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs } from '../../../base/text/terminal-text.ts'
import type { CheckFix, ReadinessCheck, ReadinessReport, ReadinessTrial } from '../../../server/control/readiness.ts'
import { ControlError } from '../client/control.ts'
import { createRefresh } from '../client/refresh.ts'
import { CodeChoice } from '../components/call-code.tsx'
import { CodeText } from '../components/code-text.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Mark } from '../components/mark.tsx'
import { shellWord } from '../model/snippets.ts'
import { showEntry, uiModeAddress } from './address.ts'
import { readStored, writeStored } from './agent-side.ts'
import { useIsProxy, usePlatformStore } from './platform/platform-section.tsx'
import { useSession } from './session-context.ts'
import { TrialDiagram } from './trial-diagram.tsx'

/** Entries within this time are followed by one request. */
const TOGETHER_MS = 400
const MARKS = { right: 'pass', wrong: 'fail', not_seen: 'skipped' } as const
const STATES = { right: 'seen right', wrong: 'seen wrong', not_seen: 'not seen yet' } as const

/** Null where no checks are evaluated, as in a workspace. */
function useReadiness(): { readonly report: ReadinessReport | null; refresh(): void } {
  const { client, log } = useSession()
  const [report, setReport] = useState<ReadinessReport | null>(null)
  const refresh = useRef<() => void>(() => {})
  useEffect(() => {
    const ended = new AbortController()
    const load = async () => {
      // UI mode evaluates scenarios, and no checks.
      if (uiModeAddress() !== null) return
      try {
        const loaded = await client.send<ReadinessReport>('GET', '/readiness')
        if (!ended.signal.aborted) setReport(loaded)
      } catch (error) {
        // Without an answer it stays as it was; a refusal says that there is none.
        if (error instanceof ControlError) ended.abort()
      }
    }
    refresh.current = createRefresh(load, TOGETHER_MS, ended.signal)
    return () => ended.abort()
  }, [client])
  const lastSeq = log.value.entries.at(-1)?.seq
  useEffect(() => refresh.current(), [client, lastSeq])
  return { report, refresh: () => refresh.current() }
}

export function ReadinessPane() {
  const { report, refresh } = useReadiness()
  const isProxy = useIsProxy()
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState<string | null>(null)
  if (report === null) return null
  const { checks, right, wrong } = report
  const open = (id: string) => {
    setChosen(id)
    setOpen(true)
  }
  const check = checks.find(({ id }) => id === chosen)
  return (
    <section class="readiness" aria-label="Readiness">
      <div class="readiness-line">
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Readiness: {right} of {checks.length} seen right
        </button>
        <span class="readiness-bar" aria-hidden="true">
          <span class="pass" style={{ flexGrow: right }} />
          <span class="fail" style={{ flexGrow: wrong }} />
          <span style={{ flexGrow: checks.length - right - wrong }} />
        </span>
        {checks.map(({ id, title, state }) =>
          state !== 'wrong' ? null : (
            <button key={id} type="button" class="link readiness-wrong" onClick={() => open(id)}>
              <Mark kind="fail" label="seen wrong" /> {id} {title}
            </button>
          ),
        )}
      </div>
      {!isOpen ? null : (
        <div class="readiness-panel">
          <ul aria-label="Checks">
            {checks.map(({ id, title, state }) => (
              <li key={id}>
                <button type="button" class="quiet" aria-pressed={id === chosen} onClick={() => setChosen(id)}>
                  <Mark kind={MARKS[state]} label={STATES[state]} /> <b>{id}</b> {title}
                </button>
              </li>
            ))}
          </ul>
          <div class="stack readiness-check">
            {check === undefined ? (
              <p>
                The traffic between the page and your service shows what is right and wrong, with no command. Choose a
                check to see what shows it, or to try it.
              </p>
            ) : (
              <CheckDetails key={check.id} check={check} onTried={refresh} onShow={() => setOpen(false)} />
            )}
            {wrong > 0 || isProxy ? null : <CertificateCommand />}
          </div>
        </div>
      )}
    </section>
  )
}

function CertificateCommand() {
  const { origin } = useSession()
  const url = usePlatformStore().moment.value?.config['webhook.url']
  const words = ['--target', typeof url === 'string' ? url : 'WEBHOOK_URL', '--port', origin.port]
  const command = `npx handover-sim certify ${words.map(shellWord).join(' ')} --agent-driver FILE --report html=certificate.html`
  return (
    <p>
      <b>Make the certificate</b>, with all checks: stop this simulator, because the checks use its port, and run{' '}
      <code>{command}</code> <CopyButton text={command} what="the command" />
    </p>
  )
}

interface CheckDetailsProps {
  readonly check: ReadinessCheck
  onTried(): void
  /** An entry is shown, below the panel. */
  onShow(): void
}

function CheckDetails({ check, onTried, onShow }: CheckDetailsProps) {
  const { id, title, level, state, by, seq, finding, delivery_id, note, cannot_try } = check
  const { client, view, log } = useSession()
  const isProxy = useIsProxy()
  const [isTrying, setTrying] = useState(false)
  const [trial, setTrial] = useState<ReadinessTrial | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isShown, setShown] = useState(false)
  const show = (entrySeq: number) => {
    showEntry(view, entrySeq)
    onShow()
  }
  const tryIt = async () => {
    setTrying(true)
    setProblem(null)
    try {
      setTrial(await client.send<ReadinessTrial>('POST', `/readiness/${id}/try`))
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
    setTrying(false)
    onTried()
  }
  // A trial has a journal of its own.
  const seqs = by === 'traffic' ? (finding?.entries ?? (seq === null ? [] : [seq])) : []
  const refused = log.value.attempts(delivery_id ?? '').at(-1)
  return (
    <>
      <h2>
        <Mark kind={MARKS[state]} label={STATES[state]} /> {id}: {title}
      </h2>
      <p>
        {level}, {STATES[state]}
        {by === 'trial' ? ' in a trial' : ''}
        {seqs.length === 0 ? '.' : ' by '}
        {seqs.slice(-5).map(seq => (
          <button key={seq} type="button" class="link" onClick={() => show(seq)}>
            #{seq}
          </button>
        ))}
      </p>
      {finding === null ? null : (
        <>
          <p>{finding.happened}</p>
          <p>{finding.hint}</p>
        </>
      )}
      {note === null ? null : <p>{note}</p>}
      <div class="buttons">
        {isProxy ? null : (
          <button type="button" disabled={isTrying || cannot_try !== null} onClick={tryIt}>
            {isTrying ? 'Trying …' : 'Try it'}
          </button>
        )}
        {refused === undefined ? null : (
          <button type="button" onClick={() => show(refused.seq)}>
            Prove it
          </button>
        )}
        {trial === null ? null : (
          <button type="button" onClick={() => setShown(true)}>
            Show the trial
          </button>
        )}
      </div>
      <p role="status">
        {trial === null
          ? ''
          : `The trial ended after ${formatMs(trial.duration_ms)}: ${trial.outcome}${trial.findings.length === 0 ? '' : `, ${counted(trial.findings.length, 'finding')}`}.`}
      </p>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {cannot_try === null || isProxy ? null : <p class="hint">{cannot_try}</p>}
      <HowToFix id={id} />
      {isShown && trial !== null ? <TrialDialog trial={trial} onClose={() => setShown(false)} /> : null}
    </>
  )
}

const STORED_LANGUAGE = 'handover-sim language'

/** The language of the reader's service. Kept in this browser. */
const language = signal(readStored(STORED_LANGUAGE) ?? 'js')

function HowToFix({ id }: { readonly id: string }) {
  const { client } = useSession()
  const [fix, setFix] = useState<CheckFix | null>(null)
  useEffect(() => {
    const load = async () => setFix(await client.send<CheckFix>('GET', `/readiness/${id}/fix`))
    // Without an answer the page says that the server is away.
    load().catch(() => {})
  }, [client, id])
  if (fix === null) return null
  const choose = (chosen: string) => writeStored(STORED_LANGUAGE, chosen)
  return (
    <>
      <h3>How to fix it</h3>
      {fix.text.split('\n\n').map(paragraph => (
        <p key={paragraph}>
          {/* The links of the page lead to other files of the package. */}
          <CodeText text={paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')} />
        </p>
      ))}
      <CodeChoice code={fix.code} chosen={language} what="the example" onChoose={choose} />
    </>
  )
}

/** The calls and events of a trial. */
function TrialDialog({ trial, onClose }: { readonly trial: ReadinessTrial; onClose(): void }) {
  const { check, findings } = trial
  return (
    <Dialog title={`The trial of ${check.id}`} isWide onClose={onClose}>
      {findings.map(({ code, happened, hint }) => (
        <p key={code}>
          {happened} {hint}
        </p>
      ))}
      <TrialDiagram trial={trial} label={`What happened in the trial of ${check.id}`} />
    </Dialog>
  )
}
