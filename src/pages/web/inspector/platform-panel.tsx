/** Shows and changes the platform: webhook, keys, availability, faults, clock, knobs, and the state as a whole. */
import './platform.css'
import { AvailabilitySection } from './platform/availability.tsx'
import { CalibrationSection } from './platform/calibration.tsx'
import { ClockSection } from './platform/clock.tsx'
import { FaultsSection } from './platform/faults.tsx'
import { KnobsSection } from './platform/knobs.tsx'
import { usePlatformStore } from './platform/platform-section.tsx'
import { SnapshotSection } from './platform/snapshot.tsx'
import { WebhookSection } from './platform/webhook.tsx'

const SECTIONS = [
  WebhookSection,
  AvailabilitySection,
  FaultsSection,
  ClockSection,
  KnobsSection,
  CalibrationSection,
  SnapshotSection,
] as const

/** The others act on a simulated platform. */
const PROXY_SECTIONS = [CalibrationSection] as const

export function PlatformPanel() {
  const store = usePlatformStore()
  const moment = store.moment.value
  const problem = store.problem.value
  const sections = store.proxy.value === null ? SECTIONS : PROXY_SECTIONS
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
      {moment === null ? null : sections.map(Section => <Section key={Section.name} />)}
    </div>
  )
}
