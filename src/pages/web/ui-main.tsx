/** Starts the page of UI mode: takes the token out of the address, and shows the scenarios. */
import './style/tokens.css'
import './style/base.css'
import { render } from 'preact'
import { createControlClient, takeToken } from './client/control.ts'
import { readUiView } from './ui-mode/ui-address.ts'
import { UiPage } from './ui-mode/ui-page.tsx'
import { createUiState, UiProvider } from './ui-mode/ui-state.ts'

const element = document.getElementById('page')
if (element !== null) {
  const origin = new URL('.', document.baseURI)
  const client = createControlClient(origin, takeToken(), null)
  const ui = createUiState(readUiView(location.search), client, origin)
  render(
    <UiProvider value={ui}>
      <UiPage />
    </UiProvider>,
    element,
  )
}
