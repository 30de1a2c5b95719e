/** Says what each check showed so far on a server, and tries a check against its webhook. */

import { freshSeed } from '../../base/runtime/node.ts'
import { messageOf } from '../../base/text/error-text.ts'
import type { InboxItem } from '../../evaluation/scenario/run-events.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import { coreOf } from '../../platform/simulator/simulator.ts'
import { ControlProblem, latest, unknownId } from '../../server/control/problems.ts'
import type { Readiness, ReadinessReport, ReadinessServer, ReadinessTrial } from '../../server/control/readiness.ts'
import type { PlatformServer } from '../../server/start.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { SimulatorRouter } from '../runner/simulator-router.ts'
import type { CheckDefinition } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { createLimits } from './context.ts'
import { checkReasonText } from './finding.ts'
import { runCheck } from './run-check.ts'
import { createServedSimulators } from './simulators.ts'
import { reportOf, TrafficReadiness, type Trial, wireFinding } from './traffic-readiness.ts'

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
    if (coreOf(this.#server).address.webhookUrl === null) return 'No webhook is set: set its URL first.'
    if (needs.length === 0 && !restarts) return null
    if (this.#driver === null) return this.#driverProblem
    const { verbs, target } = this.#driver
    const missing = needs.filter(verb => !verbs.includes(verb))
    if (missing.length > 0) return `The agent driver has no ${missing.join(', ')}.`
    return restarts && target === null
      ? 'It restarts the intermediary, which this server did not start: use handover-sim certify.'
      : null
  }

  async tryCheck(id: string, signal: AbortSignal): Promise<ReadinessTrial> {
    const ids = CHECKS.map(one => one.id)
    const check = CHECKS[ids.indexOf(id)]
    if (check === undefined)
      throw unknownId('check_not_found', 'id', `There is no check ${JSON.stringify(id)}.${latest('checks', ids)}`, ids)
    await this.readDriver()
    const obstacle = this.#cannotTry(check)
    if (obstacle !== null) throw new ControlProblem(409, 'cannot_try', obstacle)
    if (this.#isTrying)
      throw new ControlProblem(409, 'busy', 'Another check is being tried. Try again when it has ended.')
    this.#isTrying = true
    const core = coreOf(this.#server)
    // The trial has the bot, the keys and the settings of the simulator.
    const base = { bot: core.identity.bot, clock: 'real', knobs: formatKnobs(core.platform.knobs) } as const
    const target = core.address.webhookUrl ?? ''
    const simulators = createServedSimulators({ router: this.#router, base, target })
    try {
      this.#routeCalls(this.#router.requests)
      const { result } = await runCheck(check, {
        ...{ driver: this.#driver, signal, missing: new Set(), limits: createLimits(), rotates: true, hasWire: true },
        open: simulators.open,
        // The intermediary remembers the chats of the trial before.
        seed: freshSeed(),
        url: this.#server.url,
      })
      this.#trials.set(id, { result, atMs: core.journal.atMs })
      const { outcome, findings, reason, durationMs, journal, chats } = result
      return {
        check: this.report().checks[ids.indexOf(id)]!,
        outcome,
        reason: reason && checkReasonText(reason),
        findings: findings.map(wireFinding),
        duration_ms: durationMs,
        entries: journal as ReadinessTrial['entries'],
        chats: { ...chats },
      }
    } finally {
      this.#isTrying = false
      this.#router.closeEnded()
      await simulators.close()
    }
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
