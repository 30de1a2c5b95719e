/** Shows an exploration in a page while it runs: counters, the map of situations, and each failure that is found (`explore --ui`). */
import { compile } from '../evaluation/scenario/compile/compile.ts'
import { findFiles } from '../evaluation/scenario/load/find.ts'
import { loadScenarioText } from '../evaluation/scenario/load/load.ts'
import type { ExploreListener, ExploreResult, FailedConversation } from '../running/explorer/explore.ts'
import { coverageOf, type Situations } from '../running/explorer/situations.ts'
import type { ExplorationProgress } from '../running/ui-mode/protocol.ts'
import { uiRoutes } from '../running/ui-mode/routes.ts'
import { createExploreSession } from '../running/ui-mode/session.ts'
import { scenarioSources } from './command.ts'
import type { Context } from './io.ts'

export function createExploreUi(context: Context, target: string, situations: Situations) {
  const { secrets } = context
  const load = scenarioSources(context)
  const files = new Set<string>()
  const findFile = (name: string) => (files.has(name) ? findFiles([name], load)[0] : undefined)
  const session = createExploreSession(target, secrets, findFile)
  let shown: ExplorationProgress = {
    ...{ conversations: 0, acts: 0, situations: situations.size, doubted: 0, shortening: null, ended: null },
    ...coverageOf(situations),
  }
  const change = (part: Partial<ExplorationProgress>) => {
    shown = { ...shown, ...part }
    session.show(shown)
  }
  change({})
  /** Findings are added one after the other. */
  let adding = Promise.resolve()
  async function add({ file, name, sequence, result }: FailedConversation): Promise<void> {
    if (file === null) return session.add(null, `${name} (conversation ${sequence.seed})`, result)
    files.add(file.path)
    const [plan = null] = compile(await loadScenarioText(file.path, file.yaml, load))
    session.add(plan, name, result)
  }
  const listener: ExploreListener = {
    doubted({ name, sequence, result }) {
      const title = `Not confirmed: ${name} (conversation ${sequence.seed})`
      adding = adding.then(() => session.add(null, title, result))
      change({ doubted: shown.doubted + 1 })
    },
    progress: counts => change({ ...counts, ...coverageOf(situations), shortening: null }),
    shortening: (seed, invariant) => change({ shortening: `${invariant} in conversation ${seed}` }),
    found(finding) {
      adding = adding.then(() => add(finding))
      change({ shortening: null, ...coverageOf(situations) })
    },
  }
  return {
    control: { routes: uiRoutes(session.session, secrets), page: 'ui-mode.html' as const },
    listener,
    async end({ conversations, acts, calibration, stopped }: ExploreResult): Promise<void> {
      await adding
      if (calibration.broken !== null && calibration.result !== null)
        session.add(null, calibration.result.name, calibration.result)
      const counts = { conversations, acts, situations: situations.size }
      const ended = stopped === null ? 'Ended' : `Stopped: ${stopped}`
      change({ ...counts, ...coverageOf(situations), shortening: null, ended })
    },
  }
}
