/** Shows what an intermediary needs to call the platform: the base URL, and the keys, masked until asked. */

import { useState } from 'preact/hooks'
import { CopyButton } from '../../components/copy-button.tsx'
import { usePlatform } from './platform-section.tsx'

/** The address and the key: most services need no more. */
export function Address() {
  const { keys } = usePlatform()
  return (
    <>
      <p class="platform-line">
        <b>Base URL</b> <code>{keys.url}</code>
        <span class="platform-line-end">
          <CopyButton text={keys.url} what="the base URL" />
        </span>
      </p>
      <Key
        title="API key"
        use="Each call has the header Authorization: Bearer KEY. The same key signs the events."
        value={keys.api_key}
      />
    </>
  )
}

export function MoreKeys() {
  const { keys } = usePlatform()
  // The text that is shown has no key; the copy has.
  const variables = (key: string, botKey: string) =>
    `PLATFORM_URL=${keys.url}\nBOT_ID=${keys.bot_id}\nHANDOVER_API_KEY=${key}\nBOT_API_KEY=${botKey}`
  return (
    <details class="fold">
      <summary>Other keys, and all as variables</summary>
      <div class="stack">
        <Key title="Bot API key" use="For transcripts of chats." value={keys.bot_api_key} />
        {keys.more.map(({ api_key, bot_id }) => (
          <Key key={bot_id} title={`API key of bot ${bot_id}`} use="" value={api_key} />
        ))}
        <pre tabIndex={0}>{variables(MASKED, MASKED)}</pre>
        <CopyButton text={variables(keys.api_key, keys.bot_api_key)} what="the variables with the keys" />
        <p class="hint">The knobs keys.handover and keys.bot change the keys.</p>
      </div>
    </details>
  )
}

interface KeyProps {
  readonly title: string
  readonly use: string
  readonly value: string
}

const MASKED = '•'.repeat(12)

function Key({ title, use, value }: KeyProps) {
  const [isShown, setShown] = useState(false)
  return (
    <div>
      <p class="platform-line">
        <b>{title}</b> <code>{isShown ? value : MASKED}</code>
        <span class="platform-line-end">
          <button
            type="button"
            class="quiet"
            aria-label={`${isShown ? 'Hide' : 'Show'} ${title}`}
            onClick={() => setShown(!isShown)}
          >
            {isShown ? 'Hide' : 'Show'}
          </button>
          <CopyButton text={value} what={title} />
        </span>
      </p>
      {use === '' ? null : <p class="hint">{use}</p>}
    </div>
  )
}
