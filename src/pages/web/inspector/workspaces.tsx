/** Chooses the workspace that the page shows, and has the menu of the header, which creates and closes workspaces. */
import { batch } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { WorkspaceListResponse } from '../../../server/control/routes/workspaces.ts'
import { Dialog } from '../components/dialog.tsx'
import { Menu } from '../components/menu.tsx'
import type { View } from './address.ts'
import { ChoiceField, DialogButtons, OtherProblems, problemOf, TextField, useSubmission } from './fields.tsx'
import { useIsProxy } from './platform/platform-section.tsx'
import type { Session } from './session.ts'
import { useSession } from './session-context.ts'

type WorkspaceRow = WorkspaceListResponse['workspaces'][number]

/** `children`: further buttons of the menu. */
export function WorkspaceBar({ children }: { readonly children: ComponentChildren }) {
  const session = useSession()
  const { view, server } = session
  const [rows, setRows] = useState<readonly WorkspaceRow[] | null>(null)
  const [isNew, setNew] = useState(false)
  const load = async () => setRows((await server.send<WorkspaceListResponse>('GET', '/workspaces')).workspaces)
  useEffect(() => session.act(load), [session])
  const current = view.workspace.value
  return (
    <div class="buttons workspaces">
      {rows === null || (rows.length === 0 && current === null) ? null : (
        <label>
          Workspace
          <select
            value={current ?? ''}
            onFocus={() => session.act(load)}
            onChange={({ currentTarget }) => showWorkspace(view, currentTarget.value || null)}
          >
            <option value="">default</option>
            {rows.map(({ id, name }) => (
              <option key={id} value={id}>
                {name ?? id}
              </option>
            ))}
            {current === null || rows.some(({ id }) => id === current) ? null : (
              <option value={current}>{current} (closed)</option>
            )}
          </select>
        </label>
      )}
      <Menu title="Menu">
        {useIsProxy() ? null : (
          <button type="button" class="quiet" onClick={() => setNew(true)}>
            New workspace
          </button>
        )}
        {current === null ? null : (
          <button type="button" class="quiet" onClick={() => session.act(() => closeWorkspace(session, current))}>
            Close workspace
          </button>
        )}
        {children}
      </Menu>
      {isNew ? <NewWorkspaceDialog onClose={() => setNew(false)} /> : null}
    </div>
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
  const { issues, save } = useSubmission()
  const submit = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const body = buildBody(new FormData(event.currentTarget))
    void save(async () => {
      const { id } = await server.send<{ id: string }>('POST', '/workspaces', { body })
      onClose()
      showWorkspace(view, id)
    })
  }
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <form class="form in-columns" onSubmit={submit}>
        <p class="hint">A workspace is a simulator of its own, with its own keys, chats, journal and settings.</p>
        <TextField label="Name" name="name" placeholder="checkout" problem={problemOf(issues, 'name')} />
        <ChoiceField label="Clock" name="clock" options={CLOCKS} problem={problemOf(issues, 'clock')} />
        <TextField
          label="Webhook URL"
          name="webhook_url"
          isWide
          inputMode="url"
          placeholder="http://127.0.0.1:3000/webhook"
          problem={problemOf(issues, 'webhook_url')}
        />
        <OtherProblems issues={issues} names={['name', 'clock', 'webhook_url']} />
        <DialogButtons act="Create workspace" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

const CLOCKS = [
  ['', 'as the server'],
  ['real', 'real'],
  ['virtual', 'virtual'],
] as const

const buildBody = (form: FormData): object =>
  Object.fromEntries([...form].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value).trim()]])))
