/** Filters the results of a report by outcome and by words. The page is rendered with it, and its script goes on from there. */

export interface OutcomeChip {
  /** An outcome, or `all`. */
  readonly outcome: string
  readonly text: string
  readonly count: number
}

export interface FilterState {
  readonly outcome: string
  readonly text: string
}

export interface ResultFilterProps extends FilterState {
  readonly chips: readonly OutcomeChip[]
  /** `scenario` or `check`. */
  readonly noun: string
  /** Whether no result fits. */
  readonly isEmpty: boolean
  /** Missing while the page has no script yet. */
  onChange?(filter: FilterState): void
}

export function ResultFilter({ chips, noun, outcome, text, isEmpty, onChange }: ResultFilterProps) {
  return (
    <>
      <search class="result-filter">
        <fieldset class="result-chips" aria-label="Outcome">
          {chips.map(chip => (
            <button
              key={chip.outcome}
              type="button"
              class={`chip result-chip ${chip.outcome}`}
              aria-pressed={chip.outcome === outcome}
              onClick={() => onChange?.({ outcome: chip.outcome, text })}
            >
              {chip.text} <b>{chip.count}</b>
            </button>
          ))}
        </fieldset>
        <input
          type="search"
          aria-label={`Search in the ${noun}s`}
          placeholder="Search"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => onChange?.({ outcome, text: currentTarget.value })}
        />
      </search>
      {isEmpty ? (
        <p class="result-nothing">
          No {noun} fits.{' '}
          <button type="button" class="link" onClick={() => onChange?.({ outcome: 'all', text: '' })}>
            Show all
          </button>
        </p>
      ) : null}
    </>
  )
}

/** The filter as the page has it before its script starts. */
export function FilterPlace({ chips, noun }: Pick<ResultFilterProps, 'chips' | 'noun'>) {
  return (
    <div id="filter-place" class="scripted-only" data-chips={JSON.stringify(chips)} data-noun={noun}>
      <ResultFilter chips={chips} noun={noun} outcome="all" text="" isEmpty={false} />
    </div>
  )
}
