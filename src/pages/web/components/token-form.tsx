/** Asks for the token of the control API, in place of the page. Without a token the server refuses everything else. */
import './controls.css'
import { useRef } from 'preact/hooks'
import { keepToken, takeToken } from '../client/control.ts'

export function TokenForm() {
  const field = useRef<HTMLInputElement>(null)
  const isWrong = takeToken() !== null
  const submit = (event: Event) => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    if (token === '') return
    keepToken(token)
    location.reload()
  }
  return (
    <main class="token-page">
      <form class="token-form" onSubmit={submit}>
        <h1>handover-sim</h1>
        {isWrong ? (
          <p class="token-wrong" role="alert">
            This token is wrong. The simulator may have drawn another one when it started again.
          </p>
        ) : (
          <p>This simulator is open to other machines, so its page needs the token.</p>
        )}
        <label>
          Token
          <input ref={field} type="password" autocomplete="current-password" required />
        </label>
        <button type="submit" class="primary">
          Open the page
        </button>
        <p class="hint">
          It is the value of <code>--token</code> or <code>HANDOVER_SIM_TOKEN</code>. Without them,{' '}
          <code>npx handover-sim start</code> prints the address of the page with the token in it.
        </p>
      </form>
    </main>
  )
}
