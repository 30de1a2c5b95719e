/** Saves a chat as a scenario file, in the scenarios folder of the server or as a download, and says how to run it. */

import { useState } from 'preact/hooks'
import { sentence } from '../../../base/text/error-text.ts'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, shorten } from '../../../base/text/terminal-text.ts'
import type { PlayedScenario } from '../../../server/control/readiness.ts'
import type { RecordedScenario } from '../../../server/control/recorder.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Fact } from '../components/failure-cards.tsx'
import { StateMark } from '../components/mark.tsx'
import { saveFile } from '../components/save-file.ts'
import type { ChatState } from '../model/chat-items.ts'
import { shellWord } from '../model/snippets.ts'
import { uiModeAddress } from './address.ts'
import { EntryLink, OtherProblems, problemOf, TextField, useSubmission } from './fields.tsx'
import { usePlatformStore } from './platform/platform-section.tsx'
import { useSession } from './session-context.ts'
import { TrialDiagram } from './trial-diagram.tsx'

interface Choice {
  readonly name: string
  /** The first and the last entry, as typed. */
  readonly from: string
  readonly to: string
}

interface SavedTest {
  readonly recorded: RecordedScenario
  /** Null while the simulator has no webhook. */
  readonly webhookUrl: string | null
}

export function SaveTest({ chatId }: { readonly chatId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Save as test
      </button>
      {isOpen ? <SaveTestDialog chatId={chatId} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function SaveTestDialog({ chatId, onClose }: { readonly chatId: string; onClose(): void }) {
  const { view, chat, chatName } = useSession()
  const [choice, setChoice] = useState<Choice>({
    name: firstWords(chat.value) ?? chatName(chatId),
    from: '',
    to: String(view.at.value ?? ''),
  })
  const [saved, setSaved] = useState<SavedTest | null>(null)
  const saving = useSubmission()
  const submit = async (event: Event) => {
    event.preventDefault()
    await saving.save(async client => {
      const body = { ...buildBody(choice), chat_ids: [chatId], save: true }
      const recorded = await client.send<RecordedScenario>('POST', '/record', { body })
      const config = await client.send<Readonly<Record<string, unknown>>>('GET', '/config')
      const url = config['webhook.url']
      setSaved({ recorded, webhookUrl: typeof url === 'string' ? url : null })
    })
  }
  const field = (key: keyof Choice, label: string, wire: string, placeholder: string) => (
    <TextField
      label={label}
      value={choice[key]}
      placeholder={placeholder}
      inputMode={key === 'name' ? 'text' : 'numeric'}
      problem={problemOf(saving.issues, wire)}
      onChange={value => setChoice({ ...choice, [key]: value })}
    />
  )
  return (
    <Dialog title="Save as test" isWide={saved !== null} onClose={onClose}>
      {saved === null ? (
        <form class="stack" onSubmit={submit} noValidate>
          <p class="hint">
            What the user and the agent did becomes steps, and the calls of your service become expectations. The test
            is tried once before it is saved.
          </p>
          {field('name', 'Name', 'name', 'Recorded conversation')}
          <details>
            <summary>Only a part of the chat</summary>
            <div class="record-range">
              {field('from', 'From entry', 'after', 'the first')}
              {field('to', 'To entry', 'before', 'the last')}
            </div>
          </details>
          <OtherProblems issues={saving.issues} names={['name', 'after', 'before']} />
          <div class="buttons">
            <button type="submit" class="primary" disabled={saving.isPending}>
              {saving.isPending ? 'Trying it' : 'Save'}
            </button>
          </div>
        </form>
      ) : (
        <Saved {...saved} />
      )}
    </Dialog>
  )
}

/** What the user wrote first, as the name of the test. */
function firstWords(chat: ChatState | null): string | null {
  for (const item of chat?.items ?? [])
    if (item.kind === 'message' && item.from === 'user' && item.text !== '') return shorten(item.text, 50)
  return null
}

const buildBody = ({ name, from, to }: Choice) => ({
  ...(name === '' ? {} : { name }),
  ...(from === '' ? {} : { after: numberOr(from, -1) }),
  ...(to === '' ? {} : { before: numberOr(to, 1) }),
})

/** The neighbour of an entry; what is no number stays as it is, so that the server can name it. */
const numberOr = (typed: string, step: number) => (/^\d+$/.test(typed) ? Number(typed) + step : typed)

function Saved({ recorded: { name, yaml, notes, tried, file }, webhookUrl }: SavedTest) {
  const { origin, view } = useSession()
  const fileName = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  const downloadName = `${fileName || 'scenario'}.yaml`
  const { port } = origin
  let obstacle: string | null = null
  if (webhookUrl === null) obstacle = 'Set the webhook first: the test is played against your service.'
  if (view.workspace.value !== null) obstacle = 'In a workspace it cannot be played: run it with the command below.'
  const { proxy } = usePlatformStore()
  if (proxy.value !== null) obstacle = 'Beside a proxy it cannot be played: run it with the command below.'
  const uiMode = uiModeAddress()
  const words = [
    file ?? downloadName,
    '--ui',
    '--target',
    proxy.value?.webhook_url ?? webhookUrl ?? 'URL',
    '--port',
    port,
  ]
  const command = `npx handover-sim run ${words.map(shellWord).join(' ')}`
  return (
    <section class="stack" aria-label="The test">
      {file === null ? (
        <p>
          Download the test into the folder of your scenarios. The simulator writes it there itself when it is started
          with <code>--scenarios FOLDER</code>.
        </p>
      ) : (
        <p>
          Written to <code>{file}</code>.
        </p>
      )}
      <p role="status">
        <StateMark state={tried.outcome} /> <b>{TRIED[tried.outcome]}</b> <span class="hint">{triedText(tried)}</span>
      </p>
      {tried.failures.length === 0 ? null : (
        <ul class="record-notes refusal">
          {tried.failures.map(failure => (
            <li key={failure}>{failure}</li>
          ))}
        </ul>
      )}
      {notes.length === 0 ? null : (
        <ul class="record-notes hint">
          {notes.map(({ code, message, seq }) => (
            <li key={`${code} ${seq} ${message}`}>
              {message} {seq === null ? null : <EntryLink seq={seq} />}
            </li>
          ))}
        </ul>
      )}
      {uiMode === null ? (
        <Play yaml={yaml} obstacle={obstacle} />
      ) : (
        <>
          <pre class="record-yaml" tabIndex={0}>
            {yaml}
          </pre>
          {file === null ? null : (
            <p>
              <a href={`${uiMode}?${new URLSearchParams({ scenario: name })}`}>Show it among the scenarios</a>, where it
              can be played.
            </p>
          )}
        </>
      )}
      <div class="buttons">
        {file === null ? (
          <button type="button" onClick={() => saveFile(downloadName, yaml, 'application/yaml')}>
            Download
          </button>
        ) : null}
        <CopyButton text={yaml} what="the test" />
      </div>
      {uiMode !== null ? null : (
        <>
          <p>To watch its steps beside the file, stop this simulator, because the test uses its port, and run:</p>
          <p class="record-command">
            <code>{command}</code> <CopyButton text={command} what="the command" />
          </p>
        </>
      )}
    </section>
  )
}

function triedText({ calls, left_out, noticed }: RecordedScenario['tried']): string {
  if (calls === 0) return 'It expects no call of your service, so it passes whatever your service does.'
  const expects = `It expects ${counted(calls, 'call')} of your service.`
  if (left_out === 0) return expects
  return `${expects} It fails when one of them is missing: ${noticed} of ${left_out} tried.`
}

interface PlayProps {
  readonly yaml: string
  /** Why it cannot be played here; null: it can. */
  readonly obstacle: string | null
}

/** Plays the test against the service at once, and marks the lines at which it failed. */
function Play({ yaml, obstacle }: PlayProps) {
  const [played, setPlayed] = useState<PlayedScenario | null>(null)
  const playing = useSubmission()
  const play = () =>
    playing.save(async client => {
      setPlayed(null)
      setPlayed(await client.send<PlayedScenario>('POST', '/plays', { body: { yaml, journal: 'always' } }))
    })
  const failedLines = new Set(played?.failures.map(({ line }) => line))
  return (
    <>
      <pre class="record-yaml" tabIndex={0}>
        {yaml
          .split('\n')
          .map((line, index) => (failedLines.has(index + 1) ? <mark key={index}>{`${line}\n`}</mark> : `${line}\n`))}
      </pre>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={playing.isPending || obstacle !== null}
          onClick={() => void play()}
        >
          {playing.isPending ? 'Playing it' : 'Play it'}
        </button>
        <span class="hint">{obstacle ?? 'Plays the test against your service, in a chat of its own.'}</span>
      </div>
      <OtherProblems issues={playing.issues} names={[]} />
      {played === null ? null : <Played played={played} />}
    </>
  )
}

const PLAYED = {
  pass: 'Your service passes the test.',
  fail: 'Your service fails the test.',
  error: 'The test could not be played.',
  inconclusive: 'The test decided nothing.',
  skipped: 'The test was not played.',
} as const

function Played({ played }: { readonly played: PlayedScenario }) {
  const { outcome, reason, failures, duration_ms } = played
  return (
    <>
      <p role="status">
        <StateMark state={outcome} /> <b>{PLAYED[outcome]}</b>{' '}
        <span class="hint">
          {reason === null ? '' : sentence(reason)} It took {formatMs(duration_ms)}.
        </span>
      </p>
      {failures.map(({ step, line, expected, happened, hint }, index) => (
        <dl key={index} class="pairs" aria-label={`Failure at line ${line}`}>
          <Fact name="Line">{line === null ? 'none' : `${line}, step ${step}`}</Fact>
          <Fact name="Expected">{expected}</Fact>
          <Fact name="Happened">{happened}</Fact>
          {hint === null ? null : <Fact name="Hint">{hint}</Fact>}
        </dl>
      ))}
      <TrialDiagram trial={played} label="What happened when the test was played" />
    </>
  )
}

const TRIED = {
  pass: 'Tried: it passes.',
  fail: 'Tried: it fails.',
  error: 'Tried: it could not be run.',
  inconclusive: 'Tried: it decides nothing.',
  skipped: 'It was not tried.',
} as const
