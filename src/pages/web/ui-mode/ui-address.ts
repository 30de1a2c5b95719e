/** Keeps what UI mode shows in the address of the page, so that a link opens the same view again. */
import { effect, type Signal, signal } from '@preact/signals'

export const RESULT_TABS = ['diagram', 'chat', 'failures'] as const
export type ResultTab = (typeof RESULT_TABS)[number]

/** `none`: the scenario was not run. */
export const OUTCOME_FILTERS = ['pass', 'fail', 'error', 'inconclusive', 'none'] as const
export type OutcomeFilter = (typeof OUTCOME_FILTERS)[number]

export interface UiView {
  /** The name of the selected scenario; null follows the runs. */
  readonly scenario: Signal<string | null>
  readonly step: Signal<number | null>
  readonly entry: Signal<number | null>
  /** Null: failures where there are some, else the diagram. */
  readonly tab: Signal<ResultTab | null>
  /** The conversation whose chat is shown. */
  readonly chat: Signal<string | null>
  readonly text: Signal<string>
  readonly tag: Signal<string>
  readonly outcome: Signal<OutcomeFilter | null>
}

export function readUiView(search: string): UiView {
  const query = new URLSearchParams(search)
  const number = (name: string) => (/^\d{1,15}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : null)
  return {
    scenario: signal(query.get('scenario')),
    step: signal(number('step')),
    entry: signal(number('entry')),
    tab: signal(RESULT_TABS.find(tab => tab === query.get('tab')) ?? null),
    chat: signal(query.get('chat')),
    text: signal(query.get('text') ?? ''),
    tag: signal(query.get('tag') ?? ''),
    outcome: signal(OUTCOME_FILTERS.find(outcome => outcome === query.get('outcome')) ?? null),
  }
}

/** Writes every change of the view into the address, without a new entry in the history. */
export const keepUiAddress = (view: UiView): (() => void) =>
  effect(() => {
    const query = new URLSearchParams()
    for (const name of ['scenario', 'step', 'entry', 'tab', 'chat', 'text', 'tag', 'outcome'] as const) {
      const { value } = view[name]
      if (value !== null && value !== '') query.set(name, String(value))
    }
    history.replaceState(null, '', query.size === 0 ? '.' : `?${query}`)
  })
