/** Lays UI mode out: the scenarios, the file of the selected one with its steps, and what happened in its play. */
import './ui-page.css'
import { useMemo } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { FailureCards } from '../components/failure-cards.tsx'
import { Shortcuts, showShortcuts, useShortcut } from '../components/shortcuts.tsx'
import { PlayResult } from './play-result.tsx'
import { countOutcomes, filterOf, shownScenarios, summaryOfOutcomes } from './scenario-filter.ts'
import { ScenarioPicker } from './scenario-picker.tsx'
import { SourceView } from './source-view.tsx'
import type { UiState } from './ui-state.ts'

const FEED_TEXTS = {
  connecting: 'Connecting',
  live: 'Connected',
  lost: 'UI mode does not answer. Trying again.',
  refused: 'The token is missing or wrong. Open the address that handover-sim printed.',
}

export function UiPage({ ui }: { readonly ui: UiState }) {
  const { problem, run } = ui
  const shown = run.value.problem ?? problem.value
  return (
    <div class="ui-page">
      <Shortcuts />
      <UiHeader ui={ui} />
      {shown === null ? null : (
        <p class="ui-problem" role="alert">
          {shown}
        </p>
      )}
      <RunFailures ui={ui} />
      <main class="ui-columns">
        <ScenarioPicker ui={ui} />
        <SourceView ui={ui} />
        <PlayResult ui={ui} />
      </main>
    </div>
  )
}

function UiHeader({ ui }: { readonly ui: UiState }) {
  const { catalogue, feed } = ui
  const kind = catalogue.value?.kind ?? null
  return (
    <header class="ui-bar">
      <h1>{kind === 'report' ? 'Saved run' : 'Scenarios'}</h1>
      <p class={`ui-feed ${feed.value}`} role="status">
        {feed.value === 'live' ? <RunState ui={ui} /> : FEED_TEXTS[feed.value]}
      </p>
      {kind === 'run' ? <RunButtons ui={ui} /> : null}
      <button type="button" class="quiet ui-keyboard" onClick={showShortcuts}>
        Keyboard
      </button>
    </header>
  )
}

/** How many scenarios of a run have ended, or the outcomes of all. */
function RunState({ ui }: { readonly ui: UiState }) {
  const { state, done, total } = ui.run.value
  if (state === 'stopping') return <>Stopping</>
  if (state === 'playing') return <>{`Playing: ${done} of ${total} done`}</>
  return <>{summaryOfOutcomes(ui)}</>
}

function RunButtons({ ui }: { readonly ui: UiState }) {
  const { run, watch } = ui
  const isFiltered = filterOf(ui) !== null
  const shown = shownScenarios(ui)
  const { fail, error, inconclusive } = countOutcomes(ui)
  const actions = useMemo(() => actionsOf(ui), [ui])
  useShortcut('p', 'Play', 'Play the selected scenario', actions.playSelected)
  useShortcut('a', 'Play', 'Play the scenarios that are shown', actions.playShown)
  useShortcut('f', 'Play', 'Play the scenarios that failed', actions.playFailed)
  useShortcut('s', 'Play', 'Stop', actions.stop)
  useShortcut('w', 'Play', 'Watch all files, or none', actions.watchAll)
  return (
    <div class="ui-buttons">
      <button type="button" class="primary" disabled={shown.length === 0} onClick={actions.playShown}>
        {isFiltered ? `Play ${counted(shown.length, 'scenario')}` : 'Play all'}
      </button>
      <button type="button" disabled={fail + error + inconclusive === 0} onClick={actions.playFailed}>
        Play failed
      </button>
      <button type="button" disabled={run.value.state !== 'playing'} onClick={actions.stop}>
        Stop
      </button>
      <button
        type="button"
        aria-pressed={watch.value.all}
        title="Play the scenarios of a file again when it changes"
        onClick={actions.watchAll}
      >
        Watch all
      </button>
    </div>
  )
}

const actionsOf = (ui: UiState) => ({
  playSelected() {
    const name = ui.selected.peek()?.name
    if (name !== undefined) ui.playScenarios({ scenarios: [name] })
  },
  playShown: () => ui.playScenarios({ scenarios: shownScenarios(ui).map(({ name }) => name) }),
  playFailed: () => ui.playScenarios({ failed: true }),
  stop: () => ui.stop(),
  watchAll: () => ui.setWatch({ ...ui.watch.peek(), all: !ui.watch.peek().all }),
})

/** Failures of the last run that belong to no scenario. */
function RunFailures({ ui }: { readonly ui: UiState }) {
  const { failures } = ui.run.value
  if (failures.length === 0) return null
  return (
    <details class="ui-run-failures">
      <summary>{`${counted(failures.length, 'failure')} of the run ${failures.length === 1 ? 'belongs' : 'belong'} to no scenario`}</summary>
      <FailureCards failures={failures} level={3} />
    </details>
  )
}
