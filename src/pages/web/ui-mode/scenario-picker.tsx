/** Lists the scenarios by file, with their outcomes, and filters them. */
import { useEffect, useRef } from 'preact/hooks'
import { groupBy } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { CatalogueFile, CatalogueScenario } from '../../../running/ui-mode/protocol.ts'
import { CodeText } from '../components/code-text.tsx'
import { StateMark } from '../components/mark.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { scrollWithin } from '../model/scroll-within.ts'
import { OUTCOME_FILTERS } from './ui-address.ts'
import { itemAfter, OUTCOME_NAMES, outcomeOfStatus, useUi } from './ui-state.ts'

export function ScenarioPicker() {
  const { catalogue, listed, causes, isFiltered, selected, select } = useUi()
  const grouped = new Set(causes.value.flatMap(({ scenarios }) => scenarios))
  const byFile = groupBy(
    listed.value.filter(({ name }) => !grouped.has(name)),
    ({ file }) => file,
  )
  const files = (catalogue.value?.files ?? []).filter(
    ({ name, problems }) => byFile.has(name) || (!isFiltered.value && problems.length > 0),
  )
  const move = (by: number) => {
    const next = itemAfter(listed.peek(), selected.peek() ?? undefined, by)
    if (next !== undefined) select(next.name)
  }
  useShortcuts('Scenarios', {
    j: ['Select the next scenario', () => move(1)],
    k: ['Select the previous scenario', () => move(-1)],
  })
  return (
    <nav class="ui-column scenario-picker" aria-label="Scenarios">
      <Filters />
      <div class="scenario-files">
        {causes.value.map(({ text, scenarios }) => (
          <CauseSection
            key={text}
            text={text}
            scenarios={listed.value.filter(({ name }) => scenarios.includes(name))}
          />
        ))}
        {files.map(file => (
          <FileSection key={file.name} file={file} scenarios={byFile.get(file.name) ?? []} />
        ))}
        {listed.value.length === 0 && files.length === 0 && catalogue.value !== null ? (
          <p class="empty">
            {isFiltered.value
              ? 'No scenario matches the filter.'
              : catalogue.value.kind === 'explore'
                ? 'Nothing has failed yet.'
                : 'There are no scenarios.'}
          </p>
        ) : null}
      </div>
    </nav>
  )
}

function Filters() {
  const { view, catalogue, counts } = useUi()
  const { text, tag, outcome } = view
  const field = useRef<HTMLInputElement>(null)
  useShortcuts('Scenarios', { '/': ['Filter by text', () => field.current?.focus()] })
  const tags = [...new Set((catalogue.value?.scenarios ?? []).flatMap(scenario => scenario.tags))].sort()
  return (
    <search class="scenario-filters">
      <input
        ref={field}
        type="search"
        aria-label="Filter by name, file or rule"
        placeholder="Filter"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      {tags.length === 0 ? null : (
        <select
          aria-label="Filter by tag"
          value={tag.value}
          onChange={({ currentTarget }) => (tag.value = currentTarget.value)}
        >
          <option value="">All tags</option>
          {tags.map(name => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
      )}
      <fieldset class="outcome-filters">
        <legend class="visually-hidden">Filter by outcome</legend>
        {OUTCOME_FILTERS.map(filter =>
          counts.value[filter] === 0 && outcome.value !== filter ? null : (
            <button
              key={filter}
              type="button"
              class={`chip ${filter}`}
              aria-pressed={outcome.value === filter}
              onClick={() => (outcome.value = outcome.value === filter ? null : filter)}
            >
              {counts.value[filter]} {OUTCOME_NAMES[filter]}
            </button>
          ),
        )}
      </fieldset>
    </search>
  )
}

/** The scenarios that failed for the same cause. */
function CauseSection({
  text,
  scenarios,
}: {
  readonly text: string
  readonly scenarios: readonly CatalogueScenario[]
}) {
  if (scenarios.length === 0) return null
  const heading = `${counted(scenarios.length, 'scenario')}: ${visible(text)}`
  return (
    <section class="scenario-file" aria-label={heading}>
      <h2 class="scenario-cause">
        <CodeText text={heading} />
      </h2>
      <ul>
        {scenarios.map(scenario => (
          <ScenarioRow key={scenario.name} scenario={scenario} />
        ))}
      </ul>
    </section>
  )
}

interface FileSectionProps {
  readonly file: CatalogueFile
  readonly scenarios: readonly CatalogueScenario[]
}

function FileSection({ file: { name, problems }, scenarios }: FileSectionProps) {
  return (
    <section class="scenario-file" aria-label={visible(name)}>
      {scenarios.length === 1 && problems.length === 0 ? null : (
        <h2 class="scenario-file-name" title={visible(name)}>
          <bdi>{visible(name)}</bdi>
        </h2>
      )}
      {problems.map(({ at, message, excerpt }) => (
        <div key={`${at} ${message}`} class="scenario-problem">
          <p>
            <b>{visible(at)}</b> {visible(message)}
          </p>
          {excerpt === null ? null : <pre tabIndex={0}>{excerpt}</pre>}
        </div>
      ))}
      <ul>
        {scenarios.map(scenario => (
          <ScenarioRow key={scenario.name} scenario={scenario} />
        ))}
      </ul>
    </section>
  )
}

interface ScenarioRowProps {
  readonly scenario: CatalogueScenario
}

function ScenarioRow({ scenario: { name, file } }: ScenarioRowProps) {
  const ui = useUi()
  const status = ui.statuses.value.get(name)
  const isSelected = ui.selected.value?.name === name
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isSelected) scrollWithin(row.current?.closest('.scenario-files') ?? null, row.current, true)
    // The filters above take more lines with each new outcome.
  }, [isSelected, status?.state])
  const shown = visible(name)
  const last = status?.state === 'idle' ? status.last : null
  let aside = null
  if (last?.outdated) aside = <small class="outdated">changed</small>
  else if (last !== null && last.outcome !== 'skipped') aside = <small>{formatMs(last.durationMs)}</small>
  return (
    <li ref={row} class={`scenario-row${isSelected ? ' selected' : ''}`}>
      <button
        type="button"
        class="quiet scenario-name"
        aria-current={isSelected ? 'true' : undefined}
        title={[shown, visible(file), status?.last?.summary ?? ''].filter(Boolean).join('\n')}
        onClick={() => ui.select(name)}
      >
        <StateMark state={status === undefined || status.state === 'idle' ? outcomeOfStatus(status) : status.state} />
        <span dir="auto">{shown}</span>
        {aside}
      </button>
      {ui.catalogue.value?.kind === 'run' ? (
        <button
          type="button"
          class="quiet scenario-run"
          aria-label={`Run ${shown}`}
          disabled={ui.brokenFiles.value.has(file) || status?.state === 'queued' || status?.state === 'running'}
          onClick={() => ui.runScenarios({ scenarios: [name] })}
        >
          ▶
        </button>
      ) : null}
    </li>
  )
}
