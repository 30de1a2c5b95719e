/** Shows the steps of the selected scenario, and beside them its file with the state of each step at its place. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { groupBy } from '../../../base/objects.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { Failure } from '../../../evaluation/finding.ts'
import { placeText } from '../../../evaluation/scenario/plan.ts'
import type { CatalogueScenario } from '../../../running/ui-mode/protocol.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Differences } from '../components/differences.tsx'
import { EntryRef, EntryRefList } from '../components/entry-ref.tsx'
import { StateMark } from '../components/mark.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { offsetText } from '../model/formats.ts'
import { scrollWithin } from '../model/scroll-within.ts'
import type { ShownStep } from '../model/shown-run.ts'
import { CodeLine } from './code-line.tsx'
import { itemAfter, useUi } from './ui-state.ts'

export function SourceView() {
  const { selected } = useUi()
  return (
    <section class="ui-column source-view" aria-label="Steps">
      {selected.value === null ? null : (
        <>
          <ScenarioHead scenario={selected.value} />
          <div class="source-body">
            <Steps />
            <Source />
          </div>
        </>
      )}
    </section>
  )
}

function ScenarioHead({ scenario }: { readonly scenario: CatalogueScenario }) {
  const { name, description, tags, place, file } = scenario
  const { report } = useUi().shown.value
  return (
    <header class="source-head">
      <h2 dir="auto">{visible(name)}</h2>
      <p class="source-facts">
        <span>{visible(place === null ? file : placeText(place))}</span>
        <WatchButton file={file} />
        {tags.map(tag => (
          <span key={tag} class="chip source-tag">
            {visible(tag)}
          </span>
        ))}
        {report === null ? null : <span>seed {report.seed}</span>}
        {report === null || report.rerunCommand === '' ? null : (
          <span title={report.rerunCommand}>
            command <CopyButton text={report.rerunCommand} what="the command that runs it again" />
          </span>
        )}
      </p>
      {description === null ? null : <p dir="auto">{visible(description)}</p>}
    </header>
  )
}

function WatchButton({ file }: { readonly file: string }) {
  const { catalogue, watch, setWatch } = useUi()
  const { all, files } = watch.value
  if (catalogue.value?.kind !== 'run') return null
  const isWatched = files.includes(file)
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={all || isWatched}
      aria-label={`Watch ${visible(file)}`}
      title="Run its scenarios again when it changes"
      disabled={all}
      onClick={() => setWatch({ all, files: isWatched ? files.filter(path => path !== file) : [...files, file] })}
    >
      Watch
    </button>
  )
}

function Steps() {
  const { shown, view, step } = useUi()
  const { steps } = shown.value
  const move = (by: number) => {
    view.step.value = itemAfter(steps, step.peek() ?? undefined, by)?.number ?? null
  }
  useShortcuts('Steps', {
    n: ['Select the next step', () => move(1)],
    b: ['Select the step before', () => move(-1)],
  })
  const hasChats = new Set(steps.map(({ conversation }) => conversation)).size > 1
  return (
    <ol class="ui-steps" aria-label="Steps">
      {steps.map(step => (
        <StepRow key={step.number} step={step} hasChats={hasChats} />
      ))}
    </ol>
  )
}

interface StepRowProps {
  readonly step: ShownStep
  readonly hasChats: boolean
}

function StepRow({ step, hasChats }: StepRowProps) {
  const ui = useUi()
  const { number, name, label, conversation, state } = step
  const row = useRef<HTMLLIElement>(null)
  const isSelected = ui.step.value?.number === number && state !== 'running'
  const isShown = isSelected || state === 'running'
  useEffect(() => {
    if (isShown) scrollWithin(row.current?.parentElement ?? null, row.current, true)
    // A failure below makes this list lower.
  }, [isShown, state])
  return (
    <li ref={row} class={`ui-step ${classOf(state)}${isSelected ? ' selected' : ''}`} value={number}>
      <button
        type="button"
        class="quiet"
        aria-current={isSelected ? 'step' : undefined}
        onClick={() => (ui.view.step.value = ui.view.step.value === number ? null : number)}
      >
        <StateMark state={state} />
        <span class="ui-step-number">{number}</span>
        {hasChats ? <span class="ui-step-chat">{visible(conversation)}</span> : null}
        <span class="ui-step-label" dir="auto">
          {name === null ? null : <b>{visible(name)} </b>}
          {visible(label)}
        </span>
        <StepTime step={step} />
      </button>
    </li>
  )
}

const classOf = (state: ShownStep['state']) => (state === 'not reached' ? 'waiting' : state)

function StepTime({ step: { startMs, tookMs } }: { readonly step: ShownStep }) {
  if (startMs === null) return null
  return (
    <small title={`${offsetText(startMs)} s after the start`}>
      {tookMs === null ? offsetText(startMs) : formatMs(tookMs)}
    </small>
  )
}

/** Longer files are shown up to this line. */
const MAX_LINES = 3_000

function Source() {
  const { source, shown, step, selected, openFile } = useUi()
  const { steps } = shown.value
  const { file, lines } = source.value ?? { file: null, lines: [] }
  const box = useRef<HTMLDivElement>(null)
  const byLine = useMemo(() => {
    const inFile = steps.filter(({ place }) => place?.file === file)
    return groupBy(inFile, ({ place }) => place?.line ?? 0)
  }, [steps, file])
  const line = (step.value ?? selected.value)?.place?.line ?? null
  const failureCount = step.value?.failures.length ?? 0
  useEffect(() => {
    scrollWithin(box.current, box.current?.querySelector(`[data-line="${line}"]`), true)
    // A failure makes its line higher.
  }, [line, lines, failureCount])
  if (file === null) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a scrolled region of the file
    <div ref={box} class="source" role="region" aria-label={`File ${file}`} tabIndex={0}>
      <p class="source-name">
        {visible(file)}
        {line === null ? '' : `:${line}`}
        {file === selected.value?.file ? '' : `, included by ${visible(selected.value?.file ?? '')}`}{' '}
        <CopyButton text={line === null ? file : `${file}:${line}`} what="the place" />
        <button type="button" class="quiet" onClick={() => openFile(file, line)}>
          Open in editor
        </button>
      </p>
      <ol dir="ltr">
        {lines.slice(0, MAX_LINES).map((text, index) => (
          <SourceLine key={index} number={index + 1} text={text} steps={byLine.get(index + 1) ?? []} />
        ))}
      </ol>
      {lines.length > MAX_LINES ? <p class="hint">The lines after {MAX_LINES} are not shown.</p> : null}
    </div>
  )
}

interface SourceLineProps {
  readonly number: number
  readonly text: string
  /** Several for a line that is repeated. */
  readonly steps: readonly ShownStep[]
}

function SourceLine({ number, text, steps }: SourceLineProps) {
  const ui = useUi()
  const step = steps.find(candidate => candidate.state === 'running' || candidate.failures.length > 0) ?? steps.at(-1)
  const isSelected = steps.some(shownStep => shownStep.number === ui.step.value?.number)
  const failures = steps.flatMap(shownStep => shownStep.failures)
  return (
    <li
      data-line={number}
      class={`source-line ${step === undefined ? '' : classOf(step.state)}${isSelected ? ' selected' : ''}`}
    >
      <span class="source-number" aria-hidden="true">
        {number}
      </span>
      <span class="source-mark">{step === undefined ? null : <StateMark state={step.state} />}</span>
      <code>
        <CodeLine text={text} />
      </code>
      {step === undefined ? null : <StepTime step={step} />}
      {failures.map((failure, index) => (
        <SourceFailure key={index} failure={failure} />
      ))}
    </li>
  )
}

/** The nearest call with the fields that differ; without one, what happened. */
function SourceFailure({ failure }: { readonly failure: Failure }) {
  const { showEntry } = useUi()
  const { happened, nearest, hint, entrySeqs } = failure
  const [first] = nearest
  const refs = { onSelect: showEntry }
  return (
    <div class="source-failure">
      {first === undefined || first.differences.length === 0 ? (
        <p>
          {visible(happened)} <EntryRefList seqs={entrySeqs} refs={refs} />
        </p>
      ) : (
        <>
          <p>
            Nearest: <EntryRef seq={first.seq} refs={refs} /> {visible(first.what)}, {visible(first.why)}
          </p>
          <Differences differences={first.differences} />
        </>
      )}
      {hint === undefined ? null : <p>{visible(hint)}</p>}
    </div>
  )
}
