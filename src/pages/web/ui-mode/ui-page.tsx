/** Lays UI mode out: the scenarios, the file of the selected one with its steps, and what happened in its run. */
import './ui-mode.css'
import { useMemo } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { FailureCards } from '../components/failure-cards.tsx'
import { Shortcuts, showShortcuts, useShortcut } from '../components/shortcuts.tsx'
import { ResultPane } from './result-pane.tsx'
import { ScenarioPicker } from './scenario-picker.tsx'
import { SourceView } from './source-view.tsx'
import { countOutcomes, filterOf, shownScenarios, summaryOfOutcomes, type UiState, useUi } from './ui-state.ts'

const FEED_TEXTS = {
  connecting: 'Connecting',
  live: 'Connected',
  lost: 'UI mode does not answer. Trying again.',
  refused: 'The token is missing or wrong. Open the address that handover-sim printed.',
}

export function UiPage() {
  const ui = useUi()
  const { problem, run } = ui
  const shown = run.value.problem ?? problem.value
  return (
    <div class="ui-page">
      <Shortcuts />
      <UiHeader />
      {shown === null ? null : (
        <p class="ui-problem" role="alert">
          {shown}
        </p>
      )}
      <RunFailures />
      <main class="ui-columns">
        <ScenarioPicker />
        <SourceView />
        <ResultPane />
      </main>
    </div>
  )
}

function UiHeader() {
  const ui = useUi()
  const { catalogue, feed } = ui
  const kind = catalogue.value?.kind ?? null
  return (
    <header class="ui-bar">
      <h1>{kind === 'report' ? 'Saved run' : 'Scenarios'}</h1>
      <p class={`ui-feed ${feed.value}`} role="status">
        {feed.value === 'live' ? <RunState /> : FEED_TEXTS[feed.value]}
      </p>
      {kind === 'run' ? <RunButtons /> : null}
      <button type="button" class="quiet ui-keyboard" onClick={showShortcuts}>
        Keyboard
      </button>
    </header>
  )
}

/** How many scenarios of a run have ended, or the outcomes of all. */
function RunState() {
  const ui = useUi()
  const { state, done, total } = ui.run.value
  if (state === 'stopping') return <>Stopping</>
  if (state === 'running') return <>{`Running: ${done} of ${total} done`}</>
  return <>{summaryOfOutcomes(ui)}</>
}

function RunButtons() {
  const ui = useUi()
  const { run, watch } = ui
  const isFiltered = filterOf(ui) !== null
  const shown = shownScenarios(ui)
  const { fail, error, inconclusive } = countOutcomes(ui)
  const actions = useMemo(() => actionsOf(ui), [ui])
  useShortcut('p', 'Run', 'Run the selected scenario', actions.runSelected)
  useShortcut('a', 'Run', 'Run the scenarios that are shown', actions.runShown)
  useShortcut('f', 'Run', 'Run the scenarios that failed', actions.runFailed)
  useShortcut('s', 'Run', 'Stop', actions.stop)
  useShortcut('w', 'Run', 'Watch all files, or none', actions.watchAll)
  return (
    <div class="ui-buttons">
      <button type="button" class="primary" disabled={shown.length === 0} onClick={actions.runShown}>
        {isFiltered ? `Run ${counted(shown.length, 'scenario')}` : 'Run all'}
      </button>
      <button type="button" disabled={fail + error + inconclusive === 0} onClick={actions.runFailed}>
        Run failed
      </button>
      <button type="button" disabled={run.value.state !== 'running'} onClick={actions.stop}>
        Stop
      </button>
      <button
        type="button"
        aria-pressed={watch.value.all}
        title="Run the scenarios of a file again when it changes"
        onClick={actions.watchAll}
      >
        Watch all
      </button>
    </div>
  )
}

const actionsOf = (ui: UiState) => ({
  runSelected() {
    const name = ui.selected.peek()?.name
    if (name !== undefined) ui.runScenarios({ scenarios: [name] })
  },
  runShown: () => ui.runScenarios({ scenarios: shownScenarios(ui).map(({ name }) => name) }),
  runFailed: () => ui.runScenarios({ failed: true }),
  stop: () => ui.stop(),
  watchAll: () => ui.setWatch({ ...ui.watch.peek(), all: !ui.watch.peek().all }),
})

/** Failures of the last run that belong to no scenario. */
function RunFailures() {
  const ui = useUi()
  const { failures } = ui.run.value
  if (failures.length === 0) return null
  return (
    <details class="ui-run-failures">
      <summary>{`${counted(failures.length, 'failure')} of the run ${failures.length === 1 ? 'belongs' : 'belong'} to no scenario`}</summary>
      <FailureCards failures={failures} level={3} />
    </details>
  )
}
