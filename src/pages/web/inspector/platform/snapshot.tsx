/** Downloads and restores the whole state of the simulator, and resets it. */

import { useId, useState } from 'preact/hooks'
import { isMap, jsonOr } from '../../../../base/objects.ts'
import { counted } from '../../../../base/text/quantities.ts'
import { Dialog } from '../../components/dialog.tsx'
import { saveFile } from '../../components/save-file.ts'
import { moment as momentText } from '../../model/formats.ts'
import { DialogButtons, OtherProblems, SwitchField } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'

export function SnapshotSection() {
  return (
    <PlatformSection name="snapshot" title="Snapshot and reset">
      <Download />
      <Restore />
      <Reset />
    </PlatformSection>
  )
}

/** A snapshot is of now, whatever moment is shown. */
function Download() {
  const [parts, setParts] = useDraft('snapshot', { journal: true, keys: false })
  const saving = useSaving()
  const download = () =>
    saving.save(async client => {
      const query = { journal: String(parts.journal), keys: String(parts.keys) }
      const snapshot = await client.send<Readonly<Record<string, unknown>>>('GET', '/snapshot', { query })
      saveFile(
        `handover-sim-${String(snapshot.taken_at).replace(/[:.]/g, '-')}.json`,
        JSON.stringify(snapshot, null, 1),
      )
    })
  return (
    <div class="stack platform-block">
      <h4>The state of now as a file</h4>
      <div class="buttons">
        <SwitchField isOn={parts.journal} onChange={journal => setParts({ ...parts, journal })}>
          with the journal
        </SwitchField>
        <SwitchField isOn={parts.keys} onChange={keys => setParts({ ...parts, keys })}>
          with the keys, unmasked
        </SwitchField>
      </div>
      <div class="buttons">
        <button type="button" disabled={saving.isPending} onClick={() => void download()}>
          Download a snapshot
        </button>
      </div>
      <OtherProblems issues={saving.issues} names={[]} />
    </div>
  )
}

type Snapshot = Readonly<Record<string, unknown>>

function Restore() {
  const { isPast } = usePlatform()
  const [chosen, setChosen] = useState<{ name: string; snapshot: Snapshot } | null>(null)
  const saving = useSaving()
  const id = useId()
  const choose = async (input: HTMLInputElement) => {
    const file = input.files?.[0]
    if (file === undefined) return
    await saving.save(async () => setChosen({ name: file.name, snapshot: await readSnapshot(file) }))
    input.value = ''
  }
  const restore = async () => {
    const { snapshot } = chosen ?? {}
    if (await saving.send('PUT', '/snapshot', snapshot)) setChosen(null)
  }
  return (
    <div class="stack platform-block">
      <div class="field">
        <label for={id}>Restore a snapshot from a file</label>
        <input
          id={id}
          type="file"
          accept=".json,application/json"
          disabled={isPast || saving.isPending}
          onChange={({ currentTarget }) => void choose(currentTarget)}
        />
      </div>
      {chosen === null ? (
        <OtherProblems issues={saving.issues} names={[]} />
      ) : (
        <Confirmation
          title="Restore this snapshot?"
          button="Restore"
          saving={saving}
          onConfirm={restore}
          onClose={() => setChosen(null)}
        >
          <p>
            <b>{chosen.name}</b>, {aboutSnapshot(chosen.snapshot)}
          </p>
          <p>
            It replaces all chats, files, timers, settings, faults, availability, the clock and the journal. The base
            URL, a webhook URL that is set, and masked keys stay. Requests under way are aborted.
          </p>
        </Confirmation>
      )}
    </div>
  )
}

async function readSnapshot(file: File): Promise<Snapshot> {
  const parsed = jsonOr(await file.text(), null)
  if (isMap(parsed)) return parsed
  throw new Error(`${file.name} is not JSON. Choose a file from "Download a snapshot" or GET /_sim/snapshot.`)
}

function aboutSnapshot({ handover_sim, taken_at, chats }: Snapshot): string {
  const version = typeof handover_sim === 'string' ? `from version ${handover_sim}` : 'from an unknown version'
  const time = typeof taken_at === 'string' ? `, taken ${momentText(taken_at)}` : ''
  return `${version}${time}${Array.isArray(chats) ? `, with ${counted(chats.length, 'chat')}` : ''}.`
}

function Reset() {
  const { isPast } = usePlatform()
  const [isAsking, setAsking] = useState(false)
  const saving = useSaving()
  const reset = async () => {
    if (await saving.send('POST', '/reset')) setAsking(false)
  }
  return (
    <div class="stack platform-block">
      <h4>Begin again</h4>
      <div class="buttons">
        <button type="button" class="danger" disabled={isPast} onClick={() => setAsking(true)}>
          Reset
        </button>
      </div>
      {isAsking ? (
        <Confirmation
          title="Reset the simulator?"
          button="Reset"
          saving={saving}
          onConfirm={reset}
          onClose={() => setAsking(false)}
        >
          <p>
            It removes all chats, timers, faults, availability and the journal, and nothing from before is delivered
            after it. Knobs and other settings stay. To keep the state, download a snapshot first.
          </p>
        </Confirmation>
      ) : null}
    </div>
  )
}

interface ConfirmationProps extends Pick<Parameters<typeof Dialog>[0], 'title' | 'children' | 'onClose'> {
  readonly button: string
  readonly saving: ReturnType<typeof useSaving>
  onConfirm(): unknown
}

function Confirmation({ title, button, saving, onConfirm, onClose, children }: ConfirmationProps) {
  const submit = (event: Event) => {
    event.preventDefault()
    void onConfirm()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        <OtherProblems issues={saving.issues} names={[]} />
        <DialogButtons act={button} isDisabled={saving.isPending} isDestructive onCancel={onClose} />
      </form>
    </Dialog>
  )
}
