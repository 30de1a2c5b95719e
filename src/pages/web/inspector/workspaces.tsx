/** Chooses the workspace that the page shows, and creates and closes workspaces. */
import './workspaces.css'
import { batch } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { WorkspaceListAnswer } from '../../../server/control/routes/workspaces.ts'
import { Dialog } from '../components/dialog.tsx'
import type { View } from './address.ts'
import { Field, FormActs, type FormProblems, formProblemsOf } from './form-field.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

type WorkspaceRow = WorkspaceListAnswer['workspaces'][number]

export function WorkspaceBar() {
  const session = useSession()
  const { view, server } = session
  const [rows, setRows] = useState<readonly WorkspaceRow[] | null>(null)
  const [isNew, setNew] = useState(false)
  const load = async () => setRows((await server.send<WorkspaceListAnswer>('GET', '/workspaces')).workspaces)
  useEffect(() => session.act(load), [session])
  const current = view.workspace.value
  return (
    <div class="workspaces">
      {rows === null || (rows.length === 0 && current === null) ? null : (
        <WorkspaceSelect rows={rows} current={current} onFocus={() => session.act(load)} view={view} />
      )}
      <button type="button" class="quiet" onClick={() => setNew(true)}>
        New workspace
      </button>
      {current === null ? null : (
        <button type="button" class="quiet" onClick={() => session.act(() => closeWorkspace(session, current))}>
          Close workspace
        </button>
      )}
      {isNew ? <NewWorkspaceDialog onClose={() => setNew(false)} /> : null}
    </div>
  )
}

interface WorkspaceSelectProps {
  readonly rows: readonly WorkspaceRow[]
  readonly current: string | null
  readonly view: View
  onFocus(): void
}

function WorkspaceSelect({ rows, current, view, onFocus }: WorkspaceSelectProps) {
  const isThere = current === null || rows.some(({ id }) => id === current)
  return (
    <label>
      Workspace
      <select
        value={current ?? ''}
        onFocus={onFocus}
        onChange={({ currentTarget }) => showWorkspace(view, currentTarget.value || null)}
      >
        <option value="">default</option>
        {rows.map(({ id, name }) => (
          <option key={id} value={id}>
            {name ?? id}
          </option>
        ))}
        {isThere ? null : <option value={current}>{current} (closed)</option>}
      </select>
    </label>
  )
}

/** Another workspace has other chats and another journal. */
function showWorkspace(view: View, id: string | null): void {
  batch(() => {
    view.workspace.value = id
    view.chat.value = null
    view.entry.value = null
    view.compare.value = null
    view.at.value = null
  })
}

async function closeWorkspace({ server, view }: Session, id: string): Promise<void> {
  await server.send('DELETE', `/workspaces/${encodeURIComponent(id)}`)
  showWorkspace(view, null)
}

interface NewWorkspaceDialogProps {
  onClose(): void
}

function NewWorkspaceDialog({ onClose }: NewWorkspaceDialogProps) {
  const { server, view } = useSession()
  const [problems, setProblems] = useState<FormProblems | null>(null)
  const submit = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    server
      .send<{ id: string }>('POST', '/workspaces', { body: bodyOf(new FormData(event.currentTarget)) })
      .then(({ id }) => {
        onClose()
        showWorkspace(view, id)
      })
      .catch((error: unknown) => setProblems(formProblemsOf(error)))
  }
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <p class="form-hint">A workspace is a simulator of its own, with its own keys, chats, journal and settings.</p>
        <Field label="Name" problem={problems?.fields.get('name')}>
          {id => <input id={id} name="name" autocomplete="off" placeholder="checkout" />}
        </Field>
        <Field label="Clock" problem={problems?.fields.get('clock')}>
          {id => (
            <select id={id} name="clock">
              <option value="">as the server</option>
              <option value="real">real</option>
              <option value="virtual">virtual</option>
            </select>
          )}
        </Field>
        <Field label="Webhook URL" problem={problems?.fields.get('webhook_url')} isWide>
          {id => <input id={id} name="webhook_url" inputMode="url" placeholder="http://127.0.0.1:3000/webhook" />}
        </Field>
        <FormActs problems={problems} act="Create workspace" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

const bodyOf = (form: FormData): object =>
  Object.fromEntries([...form].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value).trim()]])))
