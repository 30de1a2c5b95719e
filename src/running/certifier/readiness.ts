/** Says what each check showed so far on a server, and tries a check against its webhook. */

import { anySignal, freshSeed } from '../../base/runtime/node.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { parseDuration } from '../../base/text/quantities.ts'
import type { ScenarioResult } from '../../evaluation/evaluator/verdict.ts'
import type { InboxItem } from '../../evaluation/scenario/run-events.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import { coreOf } from '../../platform/simulator/simulator.ts'
import { ControlProblem, latest, unknownId } from '../../server/control/problems.ts'
import type {
  CheckFix,
  PlayBody,
  PlayedScenario,
  Readiness,
  ReadinessReport,
  ReadinessServer,
  ReadinessTrial,
} from '../../server/control/readiness.ts'
import type { PlatformServer } from '../../server/start.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { compilePlay, Plays, readPlayDriver } from '../load/plays.ts'
import { SimulatorRouter } from '../runner/simulator-router.ts'
import type { CheckDefinition } from './check.ts'
import { fixOf } from './check-help.ts'
import { CHECKS } from './checks/index.ts'
import { createLimits } from './context.ts'
import { rotationTiers } from './rotation.ts'
import { runCheck } from './run-check.ts'
import { createServedSimulators, type ServedOptions } from './simulators.ts'
import { reportOf, TrafficReadiness, type Trial, wireFinding } from './traffic-readiness.ts'

const NO_WEBHOOK = 'No webhook is set: set its URL first.'

export interface ReadinessOptions {
  /** Null without an agent driver. */
  readonly loadDriver: (() => Promise<Driver>) | null
  /** How many scenarios `POST /_sim/plays` may run at once. */
  readonly mostPlays: number
  /** Receives the result of each run of a scenario. */
  readonly onPlayed?: ((result: ScenarioResult) => void) | undefined
}

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
  readonly #plays: Plays
  readonly #mostPlays: number
  #isTrying = false

  constructor({ simulator, routeCalls }: ReadinessServer, { loadDriver, mostPlays, onPlayed }: ReadinessOptions) {
    // The simulator of a server is the server itself.
    this.#server = simulator as PlatformServer
    this.#routeCalls = routeCalls
    this.#loadDriver = loadDriver
    this.#router = new SimulatorRouter(this.#server)
    this.#plays = new Plays({ ...this.#served(), driver: null, env: {} }, onPlayed)
    this.#mostPlays = mostPlays
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
        reason: reason?.text ?? null,
        findings: findings.map(wireFinding),
        duration_ms: durationMs,
        entries: journal as ReadinessTrial['entries'],
        chats: { ...chats },
      }
    })
  }

  async play(body: PlayBody, signal: AbortSignal): Promise<PlayedScenario> {
    if (coreOf(this.#server).address.webhookUrl === null) throw new ControlProblem(409, 'cannot_try', NO_WEBHOOK)
    if (this.#isTrying) throw busy()
    if (this.#plays.active >= this.#mostPlays)
      throw new ControlProblem(
        429,
        'too_many_plays',
        `${this.#mostPlays} scenarios run already: start --plays allows more.`,
      )
    const plan = await compilePlay(body)
    if (plan.exclusive !== null && this.#plays.active > 0) throw busy()
    await this.readDriver()
    const driver = body.agent_driver === undefined ? this.#driver : readPlayDriver(body.agent_driver, this.#router)
    const timeoutMs = parseDuration(body.timeout ?? '1h')
    if (timeoutMs === null)
      throw new ControlProblem(
        422,
        'invalid_timeout',
        `timeout must be a duration such as 2m, got ${JSON.stringify(body.timeout)}.`,
      )
    this.#routeCalls(this.#router.requests)
    const over = anySignal([signal, AbortSignal.timeout(Math.min(timeoutMs, MAX_MS))])
    return this.#plays.play(plan, body, { ...this.#served(), driver }, over)
  }

  /** The simulators of plays and trials have the bot, the keys and the settings of that of the server. */
  #served(): ServedOptions {
    const { identity, platform, address } = coreOf(this.#server)
    const base = { bot: identity.bot, clock: 'real', knobs: formatKnobs(platform.knobs) } as const
    return { router: this.#router, base, target: address.webhookUrl ?? '' }
  }

  /** Runs something with simulators of its own behind the port of the server: one at a time. */
  async #beside<Result>(run: (served: ServedOptions) => Promise<Result>): Promise<Result> {
    if (this.#isTrying || this.#plays.active > 0) throw busy()
    this.#isTrying = true
    try {
      this.#routeCalls(this.#router.requests)
      return await run(this.#served())
    } finally {
      this.#isTrying = false
      this.#router.closeEnded()
    }
  }
}

function checkNamed(id: string): CheckDefinition {
  const ids = CHECKS.map(check => check.id)
  const check = CHECKS[ids.indexOf(id)]
  if (check !== undefined) return check
  throw unknownId('check_not_found', 'id', `There is no check ${JSON.stringify(id)}.${latest('checks', ids)}`, ids)
}

/** Timers of Node take no longer time. */
const MAX_MS = 2 ** 31 - 1

const busy = () =>
  new ControlProblem(409, 'busy', 'Another check or scenario is being tried. Try again when it has ended.')

export async function createReadiness(server: ReadinessServer, options: ReadinessOptions): Promise<Readiness> {
  const readiness = new ServedReadiness(server, options)
  await readiness.readDriver()
  return readiness
}
