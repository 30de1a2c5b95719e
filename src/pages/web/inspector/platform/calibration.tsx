/** Shows what the journal says about each assumption, with the entries that show it and the knob value that fits. */
import { useEffect, useState } from 'preact/hooks'
import { counted } from '../../../../base/text/quantities.ts'
import type { CalibrationResponse } from '../../../../server/control/routes/workspace.ts'
import { ControlError } from '../../client/control.ts'
import { createRefresh } from '../../client/refresh.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Mark } from '../../components/mark.tsx'
import { shellWord } from '../../model/snippets.ts'
import { showKnob } from '../address.ts'
import { EntryLink, OtherProblems } from '../fields.tsx'
import { useSession } from '../session-context.ts'
import { PlatformSection, useIsProxy, usePlatform, useSaving } from './platform-section.tsx'

type Assumption = CalibrationResponse['assumptions'][number]
type Behaviour = Assumption['behaviours'][number]

const SECTION = 'calibration'
/** The server reads the whole journal for each answer: ten thousand entries take it half a second. */
const TOGETHER_MS = 3_000
const VERDICTS = ['contradicted', 'changed', 'confirmed'] as const
const MARKS = { contradicted: 'fail', changed: 'warn', confirmed: 'pass' } as const
const TIERS = {
  described: 'Described by the platform',
  documented: 'Documented by the platform elsewhere',
  seen: 'Seen in your traffic',
  assumed: 'Assumed',
} as const

/** What the journal shows, while the section is open; null until the server has answered. */
function useCalibration(isOpen: boolean): CalibrationResponse | null {
  const { client, log } = useSession()
  const { config } = usePlatform()
  const [calibration, setCalibration] = useState<CalibrationResponse | null>(null)
  const [refresh, setRefresh] = useState<(() => void) | null>(null)
  useEffect(() => {
    if (!isOpen) return
    const ended = new AbortController()
    const load = async () => {
      try {
        const loaded = await client.send<CalibrationResponse>('GET', '/calibration')
        if (!ended.signal.aborted) setCalibration(loaded)
      } catch (error) {
        // Without an answer it stays as it was.
        if (error instanceof ControlError) ended.abort()
      }
    }
    void load()
    setRefresh(() => createRefresh(load, TOGETHER_MS, ended.signal))
    return () => ended.abort()
  }, [client, isOpen])
  const lastSeq = log.value.entries.at(-1)?.seq
  useEffect(() => refresh?.(), [refresh, lastSeq, config])
  return calibration
}

export function CalibrationSection() {
  const { sections } = useSession().view
  const isProxy = useIsProxy()
  const calibration = useCalibration(sections.value.includes(SECTION))
  // It is what the page of a proxy is for.
  useEffect(() => {
    if (isProxy && !sections.peek().includes(SECTION)) sections.value = [...sections.peek(), SECTION]
  }, [isProxy])
  const calibrated = calibration?.assumptions.flatMap(({ behaviours }) => behaviours) ?? []
  const counts = VERDICTS.flatMap(verdict => {
    const count = calibrated.filter(({ status }) => status === verdict).length
    return count === 0 ? [] : `${count} ${verdict}`
  })
  return (
    <PlatformSection name={SECTION} title="Calibration" summary={counts.join(', ')}>
      <p class="hint">
        {isProxy
          ? 'What the platform showed so far, compared with the knobs in force.'
          : 'What this journal shows, compared with the knobs in force. It is that of a simulator: record your platform with npx handover-sim proxy.'}
      </p>
      {calibration === null ? null : <Verdicts calibration={calibration} />}
    </PlatformSection>
  )
}

function Verdicts({ calibration: { assumptions, findings } }: { readonly calibration: CalibrationResponse }) {
  const rows = assumptions.flatMap(assumption => assumption.behaviours.map(behaviour => ({ assumption, behaviour })))
  const notSeen = rows.filter(({ behaviour }) => behaviour.status === 'not seen')
  return (
    <>
      <ul aria-label="Assumptions">
        {VERDICTS.flatMap(verdict =>
          rows
            .filter(({ behaviour }) => behaviour.status === verdict)
            .map(row => <Row key={row.behaviour.name} verdict={verdict} {...row} />),
        )}
      </ul>
      <details class="fold">
        <summary>Not seen: {notSeen.length}</summary>
        <ul>
          {notSeen.map(({ assumption: { tier, class: shown }, behaviour: { name } }) => (
            <li key={name} class="platform-line">
              <code>{name}</code>
              <span class="hint">
                {TIERS[tier]}, shown by {SHOWN_BY[shown]}
              </span>
            </li>
          ))}
        </ul>
      </details>
      {findings.length === 0 ? null : (
        <>
          <h4>Not in the contract</h4>
          <ul class="record-notes">
            {findings.map(({ kind, what, count, place }) => (
              <li key={`${kind} ${what}`}>
                {kind}: {what}, {counted(count, 'time')}, first <EntryLink seq={place.entry} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const SHOWN_BY = { ordinary: 'ordinary traffic', provoked: 'provoked traffic', never: 'no traffic' } as const

interface RowProps {
  readonly verdict: (typeof VERDICTS)[number]
  readonly assumption: Assumption
  readonly behaviour: Behaviour
}

function Row({ verdict, assumption, behaviour }: RowProps) {
  const { name, count, places, changes, last, in_force, fits } = behaviour
  const { view } = useSession()
  const { description, isPast } = usePlatform()
  const isProxy = useIsProxy()
  const saving = useSaving()
  const isKnob = description.knobs.some(knob => knob.name === name)
  const about = description.assumptions.find(candidate => candidate.name === assumption.name)
  const shown = new Set([...places, ...changes.flatMap(({ from, to }) => [from, to]), last].map(place => place?.entry))
  const setting = `--set ${shellWord(`${name}=${formatObserved(fits)}`)}`
  return (
    <li class="knob">
      <p class="platform-line">
        {isKnob && !isProxy ? (
          <button type="button" class="link" onClick={() => showKnob(view, name)}>
            {name}
          </button>
        ) : (
          <code>{name}</code>
        )}
        <span>
          <Mark kind={MARKS[verdict]} label="" /> {verdict}
        </span>
      </p>
      <p>
        {verdict === 'changed' ? 'The platform changed. ' : ''}
        {verdict === 'contradicted'
          ? fits === undefined
            ? 'No value of a knob fits. '
            : `${formatObserved(fits)} fits; in force is ${formatObserved(in_force)}. `
          : isKnob
            ? `In force is ${formatObserved(in_force)}. `
            : ''}
        Seen {counted(count, 'time')}:{' '}
        {[...shown].map(seq =>
          seq === undefined ? null : (
            <EntryLink key={seq} seq={seq}>
              {' '}
            </EntryLink>
          ),
        )}
      </p>
      {verdict !== 'contradicted' || fits === undefined ? null : isProxy ? (
        <p>
          <code>{setting}</code> <CopyButton text={setting} what={`the flag that sets ${name}`} />
        </p>
      ) : (
        <div class="buttons">
          <button
            type="button"
            disabled={isPast || saving.isPending}
            onClick={() => void saving.send('PATCH', '/config', { [name]: fits })}
          >
            Set {name} to {formatObserved(fits)}
          </button>
        </div>
      )}
      <OtherProblems issues={saving.issues} names={[]} />
      <p class="hint">
        {TIERS[assumption.tier]}. {about?.open}
      </p>
    </li>
  )
}

const formatObserved = (value: unknown): string =>
  Array.isArray(value) ? value.join(', ') : value === '' ? 'empty' : String(value)
