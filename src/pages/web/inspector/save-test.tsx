/** Saves a chat as a scenario file, in the scenarios folder of the server or as a download, and says how to run it. */

import { useState } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import type { RecordedScenario } from '../../../server/control/recorder.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { StateMark } from '../components/mark.tsx'
import { saveFile } from '../components/save-file.ts'
import { EntryLink, OtherProblems, problemOf, TextField, useSubmission } from './fields.tsx'
import { useSession } from './session-context.ts'

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
  const { view, chatName } = useSession()
  const [choice, setChoice] = useState<Choice>({ name: chatName(chatId), from: '', to: String(view.at.value ?? '') })
  const [saved, setSaved] = useState<SavedTest | null>(null)
  const saving = useSubmission()
  const submit = async (event: Event) => {
    event.preventDefault()
    await saving.save(async client => {
      const body = { ...bodyOf(choice), chat_ids: [chatId], save: true }
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
    <Dialog title="Save as test" onClose={onClose}>
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

const bodyOf = ({ name, from, to }: Choice) => ({
  ...(name === '' ? {} : { name }),
  ...(from === '' ? {} : { after: numberOr(from, -1) }),
  ...(to === '' ? {} : { before: numberOr(to, 1) }),
})

/** The neighbour of an entry; what is no number stays as it is, so that the server can name it. */
const numberOr = (typed: string, step: number) => (/^\d+$/.test(typed) ? Number(typed) + step : typed)

function Saved({ recorded: { name, yaml, notes, tried, file }, webhookUrl }: SavedTest) {
  const { origin } = useSession()
  const fileName = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  const downloadName = `${fileName || 'scenario'}.yaml`
  const { port } = origin
  const command = `npx handover-sim run ${JSON.stringify(file ?? downloadName)} --ui --target ${webhookUrl ?? 'URL'} --port ${port}`
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
        <StateMark state={tried.outcome} /> <b>{TRIED[tried.outcome]}</b>{' '}
        <span class="hint">
          It expects {counted(tried.calls, 'call')}; {tried.left_out} were left out in turn, and without {tried.noticed}{' '}
          of them it fails.
        </span>
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
      <pre class="record-yaml" tabIndex={0}>
        {yaml}
      </pre>
      <div class="buttons">
        {file === null ? (
          <button type="button" class="primary" onClick={() => saveFile(downloadName, yaml, 'application/yaml')}>
            Download
          </button>
        ) : null}
        <CopyButton text={yaml} what="the test" />
      </div>
      <p>To run it against your service, stop this simulator, because the test uses its port, and run:</p>
      <p class="record-command">
        <code>{command}</code> <CopyButton text={command} what="the command" />
      </p>
    </section>
  )
}

const TRIED = {
  pass: 'Tried: it passes.',
  fail: 'Tried: it fails.',
  error: 'Tried: it could not be run.',
  inconclusive: 'Tried: it decides nothing.',
  skipped: 'It was not tried.',
} as const
