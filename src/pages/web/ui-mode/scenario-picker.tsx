/** Lists the scenarios by file, with their outcomes, and filters them. */
import { useMemo, useRef } from 'preact/hooks'
import { groupBy } from '../../../base/objects.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type {
  CatalogueFile,
  CatalogueScenario,
  FileProblem,
  ScenarioStatus,
} from '../../../running/ui-mode/protocol.ts'
import { useShortcut } from '../components/shortcuts.tsx'
import { StateMark } from './state-mark.tsx'
import { OUTCOME_FILTERS } from './ui-address.ts'
import {
  countOutcomes,
  filterOf,
  OUTCOME_NAMES,
  outcomeOfStatus,
  shownScenarios,
  tagsOf,
  type UiState,
  useUi,
} from './ui-state.ts'

export function ScenarioPicker() {
  const ui = useUi()
  const shown = shownScenarios(ui)
  const byFile = groupBy(shown, ({ file }) => file)
  const files = (ui.catalogue.value?.files ?? []).filter(({ name }) => filterOf(ui) === null || byFile.has(name))
  const move = useMemo(() => ({ next: () => moveBy(ui, 1), previous: () => moveBy(ui, -1) }), [ui])
  useShortcut('j', 'Scenarios', 'Select the next scenario', move.next)
  useShortcut('k', 'Scenarios', 'Select the previous scenario', move.previous)
  return (
    <nav class="ui-column scenario-picker" aria-label="Scenarios">
      <Filters />
      <div class="scenario-files">
        {files.map(file => (
          <FileSection key={file.name} file={file} scenarios={byFile.get(file.name) ?? []} />
        ))}
        {files.length === 0 && ui.catalogue.value !== null ? (
          <p class="empty">{filterOf(ui) === null ? 'There are no scenarios.' : 'No scenario matches the filter.'}</p>
        ) : null}
      </div>
    </nav>
  )
}

function moveBy(ui: UiState, by: number): void {
  const names = shownScenarios(ui).map(({ name }) => name)
  const at = names.indexOf(ui.selected.peek()?.name ?? '')
  const next = names[Math.max(0, Math.min(names.length - 1, at + by))]
  if (next !== undefined) ui.select(next)
}

function Filters() {
  const ui = useUi()
  const { view } = ui
  const field = useRef<HTMLInputElement>(null)
  const focus = useMemo(() => () => field.current?.focus(), [])
  useShortcut('/', 'Scenarios', 'Filter by text', focus)
  const tags = tagsOf(ui)
  return (
    <search class="scenario-filters">
      <input
        ref={field}
        type="search"
        aria-label="Filter by name, file or rule"
        placeholder="Filter"
        value={view.text.value}
        onInput={({ currentTarget }) => (view.text.value = currentTarget.value)}
      />
      {tags.length === 0 ? null : (
        <select
          aria-label="Filter by tag"
          value={view.tag.value}
          onChange={({ currentTarget }) => (view.tag.value = currentTarget.value)}
        >
          <option value="">All tags</option>
          {tags.map(tag => (
            <option key={tag} value={tag}>
              {visible(tag)}
            </option>
          ))}
        </select>
      )}
      <OutcomeButtons />
    </search>
  )
}

/** Only outcomes that there are, and the one that filters. */
function OutcomeButtons() {
  const ui = useUi()
  const { outcome } = ui.view
  const counts = countOutcomes(ui)
  const there = OUTCOME_FILTERS.filter(one => counts[one] > 0 || outcome.value === one)
  return (
    <fieldset class="outcome-filters">
      <legend class="visually-hidden">Filter by outcome</legend>
      {there.map(one => (
        <button
          key={one}
          type="button"
          class={`chip ${one}`}
          aria-pressed={outcome.value === one}
          onClick={() => (outcome.value = outcome.value === one ? null : one)}
        >
          {counts[one]} {OUTCOME_NAMES[one]}
        </button>
      ))}
    </fieldset>
  )
}

interface FileSectionProps {
  readonly file: CatalogueFile
  readonly scenarios: readonly CatalogueScenario[]
}

function FileSection({ file: { name, problems }, scenarios }: FileSectionProps) {
  const ui = useUi()
  return (
    <section class="scenario-file" aria-label={visible(name)}>
      <header class="scenario-file-head">
        <h2 title={visible(name)}>
          <bdi>{visible(name)}</bdi>
        </h2>
        {ui.catalogue.value?.kind === 'run' ? <WatchButton file={name} /> : null}
      </header>
      {problems.map(problem => (
        <Problem key={`${problem.at} ${problem.message}`} problem={problem} />
      ))}
      <ul>
        {scenarios.map(scenario => (
          <ScenarioRow key={scenario.name} scenario={scenario} isRunnable={problems.length === 0} />
        ))}
      </ul>
    </section>
  )
}

function WatchButton({ file }: { readonly file: string }) {
  const ui = useUi()
  const { all, files } = ui.watch.value
  const isWatched = files.includes(file)
  const toggle = () => ui.setWatch({ all, files: isWatched ? files.filter(one => one !== file) : [...files, file] })
  return (
    <button
      type="button"
      class="quiet chip watch-file"
      aria-pressed={all || isWatched}
      aria-label={`Watch ${visible(file)}`}
      title="Run its scenarios again when it changes"
      disabled={all}
      onClick={toggle}
    >
      Watch
    </button>
  )
}

function Problem({ problem: { at, message, excerpt } }: { readonly problem: FileProblem }) {
  return (
    <div class="scenario-problem">
      <p>
        <b>{visible(at)}</b> {visible(message)}
      </p>
      {excerpt === null ? null : <pre tabIndex={0}>{excerpt}</pre>}
    </div>
  )
}

interface ScenarioRowProps {
  readonly scenario: CatalogueScenario
  readonly isRunnable: boolean
}

function ScenarioRow({ scenario: { name }, isRunnable }: ScenarioRowProps) {
  const ui = useUi()
  const status = ui.statuses.value.get(name)
  const isSelected = ui.selected.value?.name === name
  const shown = visible(name)
  return (
    <li class={`scenario-row${isSelected ? ' selected' : ''}`}>
      <button
        type="button"
        class="quiet scenario-name"
        aria-current={isSelected ? 'true' : undefined}
        title={[shown, status?.last?.summary ?? ''].filter(Boolean).join('\n')}
        onClick={() => ui.select(name)}
      >
        <StateMark state={status === undefined || status.state === 'idle' ? outcomeOfStatus(status) : status.state} />
        <span dir="auto">{shown}</span>
        <RowAside status={status} />
      </button>
      {ui.catalogue.value?.kind === 'run' ? (
        <button
          type="button"
          class="quiet scenario-run"
          aria-label={`Run ${shown}`}
          disabled={!isRunnable || status?.state === 'queued' || status?.state === 'running'}
          onClick={() => ui.runScenarios({ scenarios: [name] })}
        >
          ▶
        </button>
      ) : null}
    </li>
  )
}

function RowAside({ status }: { readonly status: ScenarioStatus | undefined }) {
  if (status?.last == null || status.state !== 'idle') return null
  const { outdated, durationMs, outcome } = status.last
  if (outdated) return <small class="outdated">changed</small>
  return outcome === 'skipped' ? null : <small>{formatMs(durationMs)}</small>
}
