/** Shows the steps of the selected scenario, and beside them its file with the state of each step at its place. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { groupBy } from '../../../base/objects.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { FailureReport } from '../../../evaluation/evaluator/wording/report.ts'
import { placeText } from '../../../evaluation/scenario/plan.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Differences } from '../components/differences.tsx'
import { EntryRef, EntryRefList } from '../components/entry-ref.tsx'
import { useShortcut } from '../components/shortcuts.tsx'
import { offsetText } from '../model/formats.ts'
import { scrollWithin } from '../model/scroll-within.ts'
import type { ShownStep } from '../model/shown-run.ts'
import { CodeLine } from './code-line.tsx'
import { StateMark } from './state-mark.tsx'
import { type UiState, useUi } from './ui-state.ts'

export function SourceView() {
  const ui = useUi()
  const scenario = ui.selected.value
  if (scenario === null) return <section class="ui-column source-view" aria-label="Steps" />
  return (
    <section class="ui-column source-view" aria-label="Steps">
      <ScenarioHead />
      <div class="source-body">
        <Steps />
        <Source />
      </div>
    </section>
  )
}

function ScenarioHead() {
  const ui = useUi()
  const scenario = ui.selected.value
  if (scenario === null) return null
  const { name, description, tags, place, file } = scenario
  const { report } = ui.shown.value
  return (
    <header class="source-head">
      <h2 dir="auto">{visible(name)}</h2>
      <p class="source-facts">
        <span>{visible(place === null ? file : placeText(place))}</span>
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

function Steps() {
  const ui = useUi()
  const { steps } = ui.shown.value
  const move = useMemo(() => ({ next: () => moveBy(ui, 1), previous: () => moveBy(ui, -1) }), [ui])
  useShortcut('n', 'Steps', 'Select the next step', move.next)
  useShortcut('b', 'Steps', 'Select the step before', move.previous)
  const hasChats = new Set(steps.map(({ conversation }) => conversation)).size > 1
  return (
    <ol class="ui-steps" aria-label="Steps">
      {steps.map(step => (
        <StepRow key={step.number} step={step} hasChats={hasChats} />
      ))}
    </ol>
  )
}

function moveBy({ shown, view }: UiState, by: number): void {
  const numbers = shown.peek().steps.map(({ number }) => number)
  const at = numbers.indexOf(view.step.peek() ?? 0)
  const next = at === -1 ? (by > 0 ? 0 : numbers.length - 1) : Math.max(0, Math.min(numbers.length - 1, at + by))
  view.step.value = numbers[next] ?? null
}

interface StepRowProps {
  readonly step: ShownStep
  readonly hasChats: boolean
}

function StepRow({ step, hasChats }: StepRowProps) {
  const { view } = useUi()
  const { number, name, label, conversation, state } = step
  const row = useRef<HTMLLIElement>(null)
  const isSelected = view.step.value === number
  const isShown = isSelected || state === 'running'
  useEffect(() => {
    if (isShown) scrollWithin(row.current?.parentElement ?? null, row.current)
  }, [isShown])
  return (
    <li ref={row} class={`ui-step ${classOf(state)}${isSelected ? ' selected' : ''}`} value={number}>
      <button
        type="button"
        class="quiet"
        aria-current={isSelected ? 'step' : undefined}
        onClick={() => (view.step.value = isSelected ? null : number)}
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
  const ui = useUi()
  const source = ui.source.value
  const box = useRef<HTMLDivElement>(null)
  const { steps } = ui.shown.value
  const byLine = useMemo(
    () =>
      groupBy(
        steps.filter(({ place }) => place?.file === source?.file),
        ({ place }) => place?.line ?? 0,
      ),
    [steps, source],
  )
  const line = shownLine(ui)
  useEffect(() => {
    scrollWithin(box.current, box.current?.querySelector(`[data-line="${line}"]`), true)
  }, [line, source])
  if (source === null) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a scrolled region of the file
    <div ref={box} class="source" role="region" aria-label={`File ${source.file}`} tabIndex={0}>
      <p class="source-name">{visible(source.file)}</p>
      <ol dir="ltr">
        {source.lines.slice(0, MAX_LINES).map((text, index) => (
          <SourceLine key={index} number={index + 1} text={text} steps={byLine.get(index + 1) ?? []} />
        ))}
      </ol>
      {source.lines.length > MAX_LINES ? <p class="hint">The lines after {MAX_LINES} are not shown.</p> : null}
    </div>
  )
}

/** The line of the selected step, of the one that is running, of the first failure, or of the scenario. */
function shownLine({ view, shown, selected }: UiState): number | null {
  const { steps } = shown.value
  const step =
    steps.find(({ number }) => number === view.step.value) ??
    steps.find(({ state }) => state === 'running') ??
    steps.find(({ failures }) => failures.length > 0)
  return step?.place?.line ?? selected.value?.place?.line ?? null
}

interface SourceLineProps {
  readonly number: number
  readonly text: string
  /** Several for a line that is repeated. */
  readonly steps: readonly ShownStep[]
}

function SourceLine({ number, text, steps }: SourceLineProps) {
  const { view } = useUi()
  const step = steps.find(one => one.state === 'running' || one.failures.length > 0) ?? steps.at(-1)
  const isSelected = steps.some(one => one.number === view.step.value)
  const failures = steps.flatMap(one => one.failures)
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
        <SourceFailure key={index} view={view} failure={failure} />
      ))}
    </li>
  )
}

/** The nearest call with the fields that differ; without one, what happened. */
function SourceFailure({ view, failure }: Pick<UiState, 'view'> & { readonly failure: FailureReport }) {
  const { happened, nearest, hint } = failure
  const [first] = nearest
  const onSelect = (seq: number) => {
    view.entry.value = seq
  }
  return (
    <div class="source-failure">
      {first === undefined || first.differences.length === 0 ? (
        <p>
          {visible(happened)} <EntryRefList seqs={failure.entrySeqs} refs={{ onSelect }} />
        </p>
      ) : (
        <>
          <p>
            Nearest: <EntryRef seq={first.seq} refs={{ onSelect }} /> {visible(first.what)}, {visible(first.why)}
          </p>
          <Differences differences={first.differences} />
        </>
      )}
      {hint === undefined ? null : <p>{visible(hint)}</p>}
    </div>
  )
}
