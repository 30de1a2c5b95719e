/** Saves what happened as a scenario file: chooses chats and entries, and shows the file and what was tried. */

import { counted } from '../../../../base/text/quantities.ts'
import type { RecordedScenario } from '../../../../server/control/recorder.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { StateMark } from '../../components/mark.tsx'
import { saveFile } from '../../components/save-file.ts'
import { EntryLink, OtherProblems, problemOf, SwitchField, TextField } from '../fields.tsx'
import { useDraft, useSession } from '../session-context.ts'
import { PlatformSection, useSaving } from './platform-section.tsx'

export function RecordSection() {
  return (
    <PlatformSection name="record" title="Save as scenario">
      <RecordForm />
    </PlatformSection>
  )
}

interface Range {
  readonly name: string
  /** The first and the last entry, as typed. */
  readonly from: string
  readonly to: string
  /** None: every chat in which something happened. */
  readonly chatIds: readonly string[]
}

function RecordForm() {
  const session = useSession()
  const { at } = session.view
  const [draft, setRange] = useDraft<Range | null>('record', null)
  const range = draft ?? { name: '', from: '', to: String(at.value ?? ''), chatIds: [] }
  const [recorded, setRecorded] = useDraft<RecordedScenario | null>('recorded', null)
  const saving = useSaving()
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = bodyOf(range)
    await saving.save(async client => setRecorded(await client.send('POST', '/record', { body })))
  }
  const chatIds = [...session.log.value.chats.keys()]
  const field = (key: 'name' | 'from' | 'to', label: string, wire: string, placeholder: string) => (
    <TextField
      label={label}
      value={range[key]}
      placeholder={placeholder}
      inputMode={key === 'name' ? 'text' : 'numeric'}
      problem={problemOf(saving.issues, wire)}
      onChange={value => setRange({ ...range, [key]: value })}
    />
  )
  return (
    <>
      <form class="stack" onSubmit={submit} noValidate>
        <p class="hint">
          Steps are what users and agents did, expectations are the calls of the intermediary. The file is tried once
          before you get it.
        </p>
        {field('name', 'Name', 'name', 'Recorded conversation')}
        <div class="record-range">
          {field('from', 'From entry', 'after', 'the first')}
          {field('to', 'To entry', 'before', 'the last')}
        </div>
        {chatIds.length < 2 ? null : (
          <fieldset class="stack">
            <legend>Chats</legend>
            <span class="hint">{range.chatIds.length === 0 ? 'All of them, or only:' : 'Only:'}</span>
            <div class="switches record-chats">
              {chatIds.map(id => (
                <SwitchField
                  key={id}
                  isOn={range.chatIds.includes(id)}
                  title={id}
                  onChange={isOn =>
                    setRange({
                      ...range,
                      chatIds: isOn ? [...range.chatIds, id] : range.chatIds.filter(one => one !== id),
                    })
                  }
                >
                  {session.chatName(id)}
                </SwitchField>
              ))}
            </div>
          </fieldset>
        )}
        <OtherProblems issues={saving.issues} names={['name', 'after', 'before']} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={saving.isPending}>
            {saving.isPending ? 'Trying it' : 'Make the scenario'}
          </button>
        </div>
      </form>
      {recorded === null ? null : <Recorded recorded={recorded} />}
    </>
  )
}

const bodyOf = ({ name, from, to, chatIds }: Range) => ({
  ...(name === '' ? {} : { name }),
  ...(from === '' ? {} : { after: numberOr(from, -1) }),
  ...(to === '' ? {} : { before: numberOr(to, 1) }),
  ...(chatIds.length === 0 ? {} : { chat_ids: chatIds }),
})

/** The neighbour of an entry; what is no number stays as it is, so that the server can name it. */
const numberOr = (typed: string, step: number) => (/^\d+$/.test(typed) ? Number(typed) + step : typed)

function Recorded({ recorded: { name, yaml, notes, tried } }: { readonly recorded: RecordedScenario }) {
  const fileName = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  return (
    <section class="stack platform-block" aria-label="The scenario">
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
        <button type="button" onClick={() => saveFile(`${fileName || 'scenario'}.yaml`, yaml, 'application/yaml')}>
          Download
        </button>
        <CopyButton text={yaml} what="the scenario" />
      </div>
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
