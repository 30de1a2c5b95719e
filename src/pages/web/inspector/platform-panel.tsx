/** Shows and changes the platform: availability, webhook, keys, faults, clock, knobs, and the state as a whole. */
import './platform.css'
import { useEffect, useMemo } from 'preact/hooks'
import { AvailabilitySection } from './platform/availability.tsx'
import { ClockSection } from './platform/clock.tsx'
import { FaultsSection } from './platform/faults.tsx'
import { KeysSection } from './platform/keys.tsx'
import { KnobsSection } from './platform/knobs.tsx'
import { PlatformContext } from './platform/platform-section.tsx'
import { createPlatformStore } from './platform/platform-store.ts'
import { RecordSection } from './platform/record.tsx'
import { SnapshotSection } from './platform/snapshot.tsx'
import { WebhookSection } from './platform/webhook.tsx'
import { useSession } from './session-context.ts'

const SECTIONS = [
  AvailabilitySection,
  WebhookSection,
  KeysSection,
  FaultsSection,
  ClockSection,
  KnobsSection,
  RecordSection,
  SnapshotSection,
] as const

export function PlatformPanel() {
  const session = useSession()
  const store = useMemo(() => createPlatformStore(session), [session])
  useEffect(() => () => store.close(), [store])
  const moment = store.moment.value
  const problem = store.problem.value
  return (
    <div class="platform-panel">
      {problem === null ? null : (
        <p class="refusal" role="alert">
          The state of the platform could not be loaded: {problem}{' '}
          <button type="button" class="link" onClick={store.refresh}>
            Try again
          </button>
        </p>
      )}
      {moment === null ? problem === null ? <p class="empty">Loading</p> : null : null}
      {moment === null ? null : (
        <PlatformContext.Provider value={{ store, moment }}>
          {SECTIONS.map(Section => (
            <Section key={Section.name} />
          ))}
        </PlatformContext.Provider>
      )}
    </div>
  )
}
