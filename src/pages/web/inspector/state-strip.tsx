/** Says in the header what connects the service, and what differs from the normal state; each part opens its section. */
import { counted } from '../../../base/text/quantities.ts'
import { deliveryAnswer } from '../../../evaluation/timeline/entry-line.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { showSection } from './address.ts'
import { activeFaults } from './platform/faults.tsx'
import { findChangedKnobs } from './platform/knobs.tsx'
import { usePlatform, usePlatformStore } from './platform/platform-section.tsx'
import type { PlatformMoment } from './platform/platform-store.ts'
import { useSession } from './session-context.ts'

export function StateStrip() {
  const { moment, proxy } = usePlatformStore()
  return moment.value === null || proxy.value !== null ? null : (
    <>
      <Connection />
      <Differences />
    </>
  )
}

function Connection() {
  const { view } = useSession()
  const { keys, config, health } = usePlatform()
  const { state, last } = health
  const url = config['webhook.url']
  return (
    <div class="connection">
      <code class="connection-url">{keys.url}</code> <CopyButton text={keys.url} what="the base URL of the platform" />
      <span class="connection-key">
        API key <CopyButton text={keys.api_key} what="the API key of the platform" />
      </span>
      <button type="button" class="link" title="Webhook settings" onClick={() => showSection(view, 'webhook')}>
        <span class={`platform-state ${LOOKS[state]}`}>
          {typeof url === 'string' ? (
            <>
              <span class="visually-hidden">Webhook </span>
              <bdi>{url}</bdi>
              {last === null ? null : <span> · {deliveryAnswer(last).short}</span>}
            </>
          ) : (
            'Set the webhook'
          )}
        </span>
      </button>
    </div>
  )
}

const LOOKS = { no_url: 'skipped', untested: 'skipped', accepting: 'pass', failing: 'fail' } as const

function Differences() {
  const { view } = useSession()
  const differences = findDifferences(usePlatform())
  if (differences.length === 0) return null
  return (
    <ul class="state-strip" aria-label="Differs from the normal state">
      {differences.map(([section, text]) => (
        <li key={section}>
          <button type="button" class="link" onClick={() => showSection(view, section)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  )
}

type Difference = readonly [section: string, text: string]

function findDifferences(moment: PlatformMoment): readonly Difference[] {
  const { clock, clockOffsetMs, faults, queues, config, health } = moment
  const differences: Difference[] = []
  if (health.state === 'failing')
    differences.push([
      'webhook',
      `Webhook ${health.last?.status == null ? 'does not answer' : 'refuses'} (${health.failuresInARow})`,
    ])
  if (clock.mode === 'virtual') differences.push(['clock', 'Virtual clock'])
  else if (clock.paused) differences.push(['clock', 'Clock paused'])
  else if (Math.abs(clockOffsetMs) >= MIN_OFFSET_MS)
    differences.push(['clock', `Clock ${clockOffsetMs < 0 ? '−' : '+'}${offsetText(clockOffsetMs)}`])
  const active = activeFaults(faults).length
  if (active > 0) differences.push(['faults', counted(active, 'fault')])
  if (queues.some(({ bot_id, open }) => bot_id === config['bot.id'] && !open))
    differences.push(['availability', 'Closed'])
  const knobs = findChangedKnobs(moment).length
  if (knobs > 0) differences.push(['knobs', `${counted(knobs, 'knob')} changed`])
  return differences
}

/** A pause that is resumed leaves the clock behind; less than this is no difference that a person sees. */
const MIN_OFFSET_MS = 30_000

function offsetText(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000)
  return minutes < 120 ? `${Math.max(1, minutes)} min` : `${Math.round(minutes / 60)} h`
}
