/** Shows the API keys, masked until asked, and how an intermediary uses them. */

import { useEffect, useState } from 'preact/hooks'
import type { PlatformKeys } from '../../../../server/control/routes/description.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { OtherProblems, useSubmission } from '../fields.tsx'
import { useSession } from '../session-context.ts'
import { PlatformSection, usePlatform } from './platform-section.tsx'

export function KeysSection() {
  return (
    <PlatformSection name="keys" title="Keys">
      <Keys />
    </PlatformSection>
  )
}

/** Mounted when the section is opened: keys are not asked for before. */
function Keys() {
  const { client } = useSession()
  const { config } = usePlatform()
  const [keys, setKeys] = useState<PlatformKeys | null>(null)
  const { issues, save } = useSubmission()
  useEffect(() => {
    void save(async () => setKeys(await client.send<PlatformKeys>('GET', '/keys')))
  }, [client, config])
  if (keys === null) return <OtherProblems issues={issues} names={[]} />
  // The text that is shown has no key; the copy has.
  const variables = (key: string, botKey: string) =>
    `PLATFORM_URL=${keys.url}\nBOT_ID=${keys.bot_id}\nHANDOVER_API_KEY=${key}\nBOT_API_KEY=${botKey}`
  return (
    <>
      <Key title="API key" use="handover endpoints, and the signature of events" value={keys.api_key} />
      <Key title="Bot API key" use="transcripts of chats" value={keys.bot_api_key} />
      {keys.more.map(({ api_key, bot_id }) => (
        <Key key={bot_id} title={`API key of bot ${bot_id}`} use="the same, for this bot" value={api_key} />
      ))}
      <dl class="platform-facts">
        <div>
          <dt>Bot id</dt>
          <dd>
            <code>{keys.bot_id}</code>
          </dd>
        </div>
        <div>
          <dt>Base URL</dt>
          <dd>
            <code>{keys.url}</code> <CopyButton text={keys.url} what="the base URL" />
          </dd>
        </div>
      </dl>
      <details class="fold">
        <summary>How an intermediary uses them</summary>
        <p class="hint">
          Each call has the header <code>Authorization: Bearer KEY</code>. Each event is signed with the API key: the
          webhook computes the HMAC over the raw body and compares it with the header.
        </p>
        <pre tabIndex={0}>{variables(MASKED, MASKED)}</pre>
        <CopyButton text={variables(keys.api_key, keys.bot_api_key)} what="the variables with the keys" />
      </details>
    </>
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
    <div class="platform-key">
      <p>
        <b>{title}</b> <span class="hint">for {use}</span>
      </p>
      <p class="platform-line">
        <code>{isShown ? value : MASKED}</code>
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
    </div>
  )
}
