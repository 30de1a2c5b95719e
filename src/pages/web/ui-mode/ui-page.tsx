/** Lays UI mode out: the scenarios, the file of the selected one with its steps, and what happened in its run. */
import './ui-mode.css'
import { counted } from '../../../base/text/quantities.ts'
import { CoverageMap } from '../components/coverage-map.tsx'
import { FailureCards } from '../components/failure-cards.tsx'
import { Shortcuts, showShortcuts, useShortcuts } from '../components/shortcuts.tsx'
import { ExplorationCounts } from './exploration-counts.tsx'
import { ResultPane } from './result-pane.tsx'
import { ScenarioPicker } from './scenario-picker.tsx'
import { SourceView } from './source-view.tsx'
import { OUTCOME_FILTERS } from './ui-address.ts'
import { OUTCOME_NAMES, useUi } from './ui-state.ts'

const FEED_TEXTS = {
  connecting: 'Connecting',
  live: 'Connected',
  lost: 'UI mode does not answer. Trying again.',
  refused: 'The token is missing or wrong. Open the address that handover-sim printed.',
  missing: 'This server has no UI mode.',
}

const TITLES = { run: 'Scenarios', report: 'Saved run', explore: 'Explore' } as const

export function UiPage() {
  const { problem, run, catalogue, feed, exploration } = useUi()
  const kind = catalogue.value?.kind ?? null
  const { failures } = run.value
  const shown = run.value.problem ?? problem.value
  return (
    <div class="ui-page">
      <Shortcuts />
      <header class="ui-bar">
        <h1>{TITLES[kind ?? 'run']}</h1>
        <p class={`ui-feed ${feed.value}`} role="status">
          {feed.value !== 'live' ? FEED_TEXTS[feed.value] : kind === 'explore' ? <ExplorationCounts /> : <RunState />}
        </p>
        {kind === 'run' ? (
          <>
            <RunButtons />
            <a href="./inspector" title="Play a chat by hand with the same service, and save it as a test">
              Inspector
            </a>
          </>
        ) : null}
        <button type="button" class="quiet ui-keyboard" onClick={showShortcuts}>
          Keyboard
        </button>
      </header>
      {shown === null ? null : (
        <p class="ui-problem" role="alert">
          {shown}
        </p>
      )}
      {failures.length === 0 ? null : (
        <details class="ui-run-failures">
          <summary>{`${counted(failures.length, 'failure')} of the run ${failures.length === 1 ? 'belongs' : 'belong'} to no scenario`}</summary>
          <FailureCards failures={failures} level={3} />
        </details>
      )}
      {exploration.value === null ? null : <CoverageMap {...exploration.value} />}
      <main class="ui-columns">
        <ScenarioPicker />
        <SourceView />
        <ResultPane />
      </main>
    </div>
  )
}

/** How many scenarios of a run have ended, or the outcomes of all: `3 scenarios: 2 passed, 1 failed`. */
function RunState() {
  const { run, counts, brokenFiles } = useUi()
  const { state, done, total } = run.value
  if (state === 'stopping') return <>Stopping</>
  if (state === 'running') return <>{`Running: ${done} of ${total} done`}</>
  const parts: string[] = []
  let scenarioCount = 0
  for (const outcome of OUTCOME_FILTERS) {
    const count = counts.value[outcome]
    scenarioCount += count
    if (count > 0) parts.push(`${count} ${OUTCOME_NAMES[outcome]}`)
  }
  const broken = brokenFiles.value.size === 0 ? '' : `; ${counted(brokenFiles.value.size, 'file')} cannot be run`
  return <>{`${counted(scenarioCount, 'scenario')}: ${parts.join(', ') || 'none'}${broken}`}</>
}

function RunButtons() {
  const { run, watch, listed, isFiltered, counts, selected, runScenarios, stop, setWatch } = useUi()
  const { fail, error, inconclusive } = counts.value
  const runShown = () => runScenarios({ scenarios: listed.peek().map(({ name }) => name) })
  const runFailed = () => runScenarios({ failed: true })
  const runSelected = () => selected.value !== null && runScenarios({ scenarios: [selected.value.name] })
  const watchAll = () => setWatch({ ...watch.peek(), all: !watch.peek().all })
  useShortcuts('Run', {
    p: ['Run the selected scenario', runSelected, 'action'],
    a: ['Run the scenarios that are shown', runShown, 'action'],
    f: ['Run the scenarios that failed', runFailed, 'action'],
    s: ['Stop', stop, 'action'],
    w: ['Watch all files, or none', watchAll],
  })
  return (
    <div class="ui-buttons">
      <button type="button" class="primary" disabled={listed.value.length === 0} onClick={runShown}>
        {isFiltered.value ? `Run ${counted(listed.value.length, 'scenario')}` : 'Run all'}
      </button>
      <button type="button" disabled={fail + error + inconclusive === 0} onClick={runFailed}>
        Run failed
      </button>
      <button type="button" disabled={run.value.state !== 'running'} onClick={stop}>
        Stop
      </button>
      <button
        type="button"
        aria-pressed={watch.value.all}
        title="Run the scenarios of a file again when it changes"
        onClick={watchAll}
      >
        Watch all
      </button>
    </div>
  )
}
