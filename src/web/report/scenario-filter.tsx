/** Filters the scenarios of a report by outcome and by words. The page is rendered with it, and its script goes on from there. */
import type { Outcome } from '../../evaluator/verdict.ts'

export interface OutcomeChip {
  readonly outcome: Outcome | 'all'
  readonly text: string
  readonly count: number
}

export interface FilterState {
  readonly outcome: Outcome | 'all'
  readonly text: string
}

export interface ScenarioFilterProps extends FilterState {
  readonly chips: readonly OutcomeChip[]
  /** Missing while the page has no script yet. */
  onChange?(filter: FilterState): void
}

export function ScenarioFilter({ chips, outcome, text, onChange }: ScenarioFilterProps) {
  return (
    <search class="scenario-filter">
      <fieldset class="scenario-chips" aria-label="Outcome">
        {chips.map(chip => (
          <button
            key={chip.outcome}
            type="button"
            class={`scenario-chip ${chip.outcome}`}
            aria-pressed={chip.outcome === outcome}
            onClick={() => onChange?.({ outcome: chip.outcome, text })}
          >
            {chip.text} <b>{chip.count}</b>
          </button>
        ))}
      </fieldset>
      <input
        type="search"
        aria-label="Search in names, files, tags and failures"
        placeholder="Search"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => onChange?.({ outcome, text: currentTarget.value })}
      />
    </search>
  )
}

export interface NothingFitsProps {
  readonly isShown: boolean
  onReset?(): void
}

export function NothingFits({ isShown, onReset }: NothingFitsProps) {
  return (
    <p class="scenario-nothing" hidden={!isShown}>
      No scenario fits.{' '}
      <button type="button" class="link" onClick={onReset}>
        Show all
      </button>
    </p>
  )
}
