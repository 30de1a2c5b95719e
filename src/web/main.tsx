/** Starts the page: takes the token out of the address, and shows the inspector. */
import './style/tokens.css'
import './style/base.css'
import { render } from 'preact'
import { takeToken } from './client/control.ts'
import { readView } from './inspector/address.ts'
import { Inspector } from './inspector/inspector.tsx'
import { createSession } from './inspector/session.ts'

const element = document.getElementById('page')
if (element !== null) {
  const session = createSession(readView(location.search), new URL('.', document.baseURI), takeToken())
  render(<Inspector session={session} />, element)
}
