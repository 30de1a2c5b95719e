/** Says what each check showed so far on a server, and tries a check against its webhook. */

import { ConfigError } from '../../base/files/errors.ts'
import { freshSeed } from '../../base/runtime/node.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { describeVerdict } from '../../evaluation/evaluator/wording/report.ts'
import { compile } from '../../evaluation/scenario/compile/compile.ts'
import { loadText } from '../../evaluation/scenario/load/load.ts'
import type { Plan } from '../../evaluation/scenario/plan.ts'
import type { InboxItem } from '../../evaluation/scenario/run-events.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import { coreOf } from '../../platform/simulator/simulator.ts'
import { ControlProblem, latest, unknownId } from '../../server/control/problems.ts'
import type {
  CheckFix,
  PlayedScenario,
  Readiness,
  ReadinessReport,
  ReadinessServer,
  ReadinessTrial,
} from '../../server/control/readiness.ts'
import type { PlatformServer } from '../../server/start.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { SimulatorRouter } from '../runner/simulator-router.ts'
import { runSuite } from '../runner/suite.ts'
import type { CheckDefinition } from './check.ts'
import { fixOf } from './check-help.ts'
import { CHECKS } from './checks/index.ts'
import { createLimits } from './context.ts'
import { checkReasonText } from './finding.ts'
import { rotationTiers } from './rotation.ts'
import { runCheck } from './run-check.ts'
import { createServedSimulators, type ServedOptions } from './simulators.ts'
import { reportOf, TrafficReadiness, type Trial, wireFinding } from './traffic-readiness.ts'

const NO_WEBHOOK = 'No webhook is set: set its URL first.'

/** Of the simulator of a server, where checks can be tried. */
class ServedReadiness implements Readiness {
  readonly #server: PlatformServer
  readonly #routeCalls: ReadinessServer['routeCalls']
  readonly #loadDriver: (() => Promise<Driver>) | null
  readonly #router: SimulatorRouter
  readonly #traffic: TrafficReadiness
  readonly #trials = new Map<string, Trial>()
  #driver: Driver | null = null
  #driverProblem = 'It needs an agent driver, which acts as the human agent: start with --agent-driver FILE.'
  #isTrying = false

  constructor({ simulator, routeCalls }: ReadinessServer, loadDriver: (() => Promise<Driver>) | null) {
    // The simulator of a server is the server itself.
    this.#server = simulator as PlatformServer
    this.#routeCalls = routeCalls
    this.#loadDriver = loadDriver
    this.#router = new SimulatorRouter(this.#server)
    this.#traffic = new TrafficReadiness(simulator)
  }

  /** A help desk may start later than the simulator, so a driver that could not be read is read again with the next trial. */
  async readDriver(): Promise<void> {
    try {
      this.#driver ??= (await this.#loadDriver?.()) ?? null
    } catch (error) {
      this.#driverProblem = messageOf(error)
    }
  }

  report(): ReadinessReport {
    return reportOf(this.#server, this.#traffic.sightings(), this.#trials, check => this.#cannotTry(check))
  }

  changes(): () => string {
    const sent = new Map<string, string>()
    return () => {
      let text = ''
      for (const check of this.report().checks) {
        const data = JSON.stringify(check)
        if (sent.get(check.id) === data) continue
        sent.set(check.id, data)
        text += `event: readiness\ndata: ${data}\n\n`
      }
      return text
    }
  }

  inboxRead(chatId: string, items: readonly InboxItem[]): void {
    this.#traffic.inboxRead(chatId, items)
  }

  #cannotTry({ needs = [], restarts = false }: CheckDefinition): string | null {
    if (coreOf(this.#server).address.webhookUrl === null) return NO_WEBHOOK
    if (needs.length === 0 && !restarts) return null
    if (this.#driver === null) return this.#driverProblem
    const { verbs, target } = this.#driver
    const missing = needs.filter(verb => !verbs.includes(verb))
    if (missing.length > 0) return `The agent driver has no ${missing.join(', ')}.`
    return restarts && target === null
      ? 'It restarts the intermediary, which this server did not start: use npx handover-sim certify.'
      : null
  }

  fix(id: string): CheckFix {
    return fixOf(checkNamed(id))
  }

  async tryCheck(id: string, signal: AbortSignal): Promise<ReadinessTrial> {
    const check = checkNamed(id)
    await this.readDriver()
    const obstacle = this.#cannotTry(check)
    if (obstacle !== null) throw new ControlProblem(409, 'cannot_try', obstacle)
    return this.#beside(async served => {
      const core = coreOf(this.#server)
      const simulators = createServedSimulators(served)
      const tiers = rotationTiers(core.evidence, core.platform.knobs)
      const { result } = await runCheck(check, {
        ...{ driver: this.#driver, signal, missing: new Set(), limits: createLimits(), rotates: true, hasWire: true },
        tiers,
        open: simulators.open,
        // The intermediary remembers the chats of the trial before.
        seed: freshSeed(),
        url: this.#server.url,
      }).finally(() => simulators.close())
      this.#trials.set(id, { result, atMs: core.journal.atMs })
      const { outcome, findings, reason, durationMs, journal, chats } = result
      return {
        check: this.report().checks[CHECKS.indexOf(check)]!,
        outcome,
        reason: reason && checkReasonText(reason),
        findings: findings.map(wireFinding),
        duration_ms: durationMs,
        entries: journal as ReadinessTrial['entries'],
        chats: { ...chats },
      }
    })
  }

  async play(yaml: string, signal: AbortSignal): Promise<PlayedScenario> {
    await this.readDriver()
    if (coreOf(this.#server).address.webhookUrl === null) throw new ControlProblem(409, 'cannot_try', NO_WEBHOOK)
    return this.#beside(async served => {
      const { scenarios } = await runSuite({
        ...served,
        wanted: [{ plan: await planOf(yaml), instance: 1 }],
        // The intermediary remembers the chats of the time before.
        ...{ seed: freshSeed(), seedWins: true, jobs: 1, strict: false, bail: null, env: {} },
        driver: this.#driver,
        signal,
        listener: { started() {}, step() {}, waiting() {}, listening() {}, finished() {} },
        rerunCommand: () => '',
      })
      const result = scenarios[0]!
      const { failures, reason } = describeVerdict(result)
      return {
        name: result.name,
        outcome: result.outcome,
        reason,
        failures: failures.map(({ step, expected, happened, hint = null }) => {
          const { number = null, place = null } = step ?? {}
          return { step: number, line: place?.line ?? null, expected, happened, hint }
        }),
        duration_ms: result.durationMs,
        entries: result.journal as PlayedScenario['entries'],
        chats: { ...result.conversations },
      }
    })
  }

  /** Runs something with simulators of its own behind the port of the server: one at a time. */
  async #beside<Result>(run: (served: ServedOptions) => Promise<Result>): Promise<Result> {
    if (this.#isTrying)
      throw new ControlProblem(409, 'busy', 'Another check or test is being tried. Try again when it has ended.')
    this.#isTrying = true
    const { identity, platform, address } = coreOf(this.#server)
    // They have the bot, the keys and the settings of the simulator.
    const base = { bot: identity.bot, clock: 'real', knobs: formatKnobs(platform.knobs) } as const
    try {
      this.#routeCalls(this.#router.requests)
      return await run({ router: this.#router, base, target: address.webhookUrl ?? '' })
    } finally {
      this.#isTrying = false
      this.#router.closeEnded()
    }
  }
}

function checkNamed(id: string): CheckDefinition {
  const ids = CHECKS.map(one => one.id)
  const check = CHECKS[ids.indexOf(id)]
  if (check !== undefined) return check
  throw unknownId('check_not_found', 'id', `There is no check ${JSON.stringify(id)}.${latest('checks', ids)}`, ids)
}

/** Of the first scenario of the text. */
async function planOf(yaml: string): Promise<Plan> {
  try {
    return compile(await loadText('scenario.yaml', yaml, { cwd: '.', nodeVersion: process.version }))[0]!
  } catch (error) {
    throw error instanceof ConfigError ? new ControlProblem(422, 'invalid_scenario', error.message) : error
  }
}

/** `loadDriver`: null without an agent driver. */
export async function createReadiness(
  server: ReadinessServer,
  loadDriver: (() => Promise<Driver>) | null,
): Promise<Readiness> {
  const readiness = new ServedReadiness(server, loadDriver)
  await readiness.readDriver()
  return readiness
}
