/** Shows the clock of the simulator, pauses and resumes a real one, and moves one that stands still. */

import { useEffect, useId, useState } from 'preact/hooks'
import { elapsedMs, isoMicros, wallTimer } from '../../../../base/runtime/clock.ts'
import { formatDuration } from '../../../../base/text/quantities.ts'
import { moment as momentText } from '../../model/formats.ts'
import { OtherProblems, TextField } from '../fields.tsx'
import { useDraft } from '../session-context.ts'
import { PlatformSection, usePlatform, useSaving } from './platform-section.tsx'
import type { PlatformMoment } from './platform-store.ts'

const TICK_MS = 1000

/** The time of the shown moment, in milliseconds since 1970. A clock that runs goes on once a second. */
export function useShownTime({ clock, isPast }: PlatformMoment): number {
  const [ticks, setTicks] = useState({ from: clock, since: elapsedMs(), now: elapsedMs() })
  const isTicking = !clock.paused && !isPast
  if (ticks.from !== clock) setTicks({ from: clock, since: elapsedMs(), now: elapsedMs() })
  useEffect(() => {
    if (!isTicking) return
    const timer = wallTimer(TICK_MS, () => setTicks(old => ({ ...old, now: elapsedMs() })))
    return () => timer.cancel()
  }, [isTicking, ticks])
  return Date.parse(clock.now) + (isTicking ? ticks.now - ticks.since : 0)
}

export function ClockSection() {
  const moment = usePlatform()
  const { clock } = moment
  const now = useShownTime(moment)
  const isPausable = clock.mode === 'real'
  return (
    <PlatformSection name="clock" title="Clock" summary={isPausable && clock.paused ? 'real, paused' : clock.mode}>
      <p class="platform-line">
        <b>{momentText(isoMicros(now * 1000))}</b>
      </p>
      {isPausable && <PauseButton />}
      {clock.paused && <AdvanceForm nowMs={now} />}
    </PlatformSection>
  )
}

/** A pause stops typing timers, retries and idle chats. */
function PauseButton() {
  const { clock, isPast } = usePlatform()
  const saving = useSaving()
  const id = useId()
  const [label, path] = clock.paused ? (['Resume', '/clock/resume'] as const) : (['Pause', '/clock/pause'] as const)
  return (
    <div class="stack">
      <p class="hint" id={id}>
        {clock.paused
          ? 'Resume lets it go on from this time. After a reset it shows the time of this machine.'
          : 'Paused, timers for typing, retries and idle chats wait, and you can move it.'}
      </p>
      <div class="buttons">
        <button
          type="button"
          aria-describedby={id}
          disabled={isPast || saving.isPending}
          onClick={() => void saving.send('POST', path)}
        >
          {label}
        </button>
      </div>
      <OtherProblems issues={saving.issues} names={[]} />
    </div>
  )
}

const STEPS = ['1s', '1m', '10m', '1h'] as const

function AdvanceForm({ nowMs }: { readonly nowMs: number }) {
  const { clock, isPast } = usePlatform()
  // Typing, retries, delays and idle chats set timers. A real clock is paused between two seconds.
  const left = Math.max(0, Date.parse(clock.next_due ?? '') - nowMs)
  const [by, setBy] = useDraft('clock', '')
  const saving = useSaving()
  const advance = (duration: string) => saving.send('POST', '/clock/advance', { by: duration })
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await advance(by)) setBy('')
  }
  return (
    <form class="stack" onSubmit={submit}>
      <fieldset class="buttons" disabled={isPast || saving.isPending}>
        <legend class="hint">It stands still until you move it.</legend>
        {STEPS.map(step => (
          <button key={step} type="button" onClick={() => void advance(step)}>
            + {step}
          </button>
        ))}
        {clock.next_due === null || isPast ? null : (
          <button type="button" title={momentText(clock.next_due)} onClick={() => void advance(formatDuration(left))}>
            To the next timer (+ {formatDuration(left < 10_000 ? left : Math.round(left / 1000) * 1000)})
          </button>
        )}
        <TextField label="By" labelPlace="before" class="short" value={by} placeholder="90m" onChange={setBy} />
        <button type="submit" disabled={by === ''}>
          Advance
        </button>
      </fieldset>
      <OtherProblems issues={saving.issues} names={[]} />
    </form>
  )
}
