/** Starts the page: takes the token out of the address, and shows the inspector of the chosen workspace. */
import './style/tokens.css'
import './style/base.css'
import { render } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { takeToken } from './client/control.ts'
import { readView, type View } from './inspector/address.ts'
import { Inspector } from './inspector/inspector.tsx'
import { createSession } from './inspector/session.ts'
import { SessionContext } from './inspector/session-context.ts'

interface PageProps {
  readonly view: View
  readonly origin: URL
  readonly token: string | null
}

/** Another workspace has another journal, so it gets a session of its own. */
function Page({ view, origin, token }: PageProps) {
  const workspace = view.workspace.value
  const session = useMemo(() => createSession(view, origin, token), [view, origin, token, workspace])
  useEffect(() => () => session.close(), [session])
  return (
    <SessionContext.Provider value={session}>
      <Inspector key={workspace ?? ''} />
    </SessionContext.Provider>
  )
}

const element = document.getElementById('page')
if (element !== null) {
  const origin = new URL('.', document.baseURI)
  render(<Page view={readView(location.search)} origin={origin} token={takeToken()} />, element)
}
