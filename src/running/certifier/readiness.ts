/** Collects what traffic and trials show about every check, so that a developer sees what is broken before a certification. */

import { freshSeed } from '../../base/runtime/node.ts'
import { messageOf } from '../../base/text/error-text.ts'
import { formatKnobs } from '../../platform/contract/knobs.ts'
import type { Entry } from '../../platform/journal/entry.ts'
import { coreOf, type PlatformSimulator } from '../../platform/simulator/simulator.ts'
import { isComparable } from '../../platform/webhooks/refusal-evidence.ts'
import { ControlProblem, latest, unknownId } from '../../server/control/problems.ts'
import type {
  Readiness,
  ReadinessCheck,
  ReadinessReport,
  ReadinessServer,
  ReadinessTrial,
} from '../../server/control/readiness.ts'
import type { PlatformServer } from '../../server/start.ts'
import type { Driver } from '../agent-driver/driver.ts'
import { SimulatorRouter } from '../runner/simulator-router.ts'
import type { CheckDefinition, CheckResult } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { createLimits } from './context.ts'
import { type CheckFinding, checkReasonText } from './finding.ts'
import { runCheck } from './run-check.ts'
import { createServedSimulators } from './simulators.ts'
import { judgeChat, judgeOthers, type Sighting } from './traffic.ts'

/** Chats that are judged anew at most, the newest. */
const MOST_CHATS = 200
/** Some judgements need time to pass: chats with newer entries are judged again. */
const OPEN_MS = 35_000
/** The latest entries without a chat that are judged. */
const MOST_OTHERS = 500

/** What the traffic of one simulator shows: reads its journal when it is asked, and nothing in between. */
export class TrafficReadiness {
  readonly #sim: PlatformSimulator
  readonly #latest = new Map<string, Sighting>()
  /** Chats to judge, with the time of their last entry. */
  readonly #open = new Map<string, number>()
  #others: Entry[] = []
  #lastSeq = 0
  #instance = ''

  constructor(sim: PlatformSimulator) {
    this.#sim = sim
  }

  /** The latest sighting of each check. */
  sightings(): ReadonlyMap<string, Sighting> {
    const { journal, platform, numbering } = coreOf(this.#sim)
    if (numbering.instance() !== this.#instance) {
      this.#instance = numbering.instance()
      this.#latest.clear()
      this.#open.clear()
      this.#others = []
      this.#lastSeq = 0
    }
    const others: Entry[] = []
    for (const entry of journal.query({ after: this.#lastSeq })) {
      this.#lastSeq = entry.seq
      if (entry.chat_id === undefined) others.push(entry)
      else {
        this.#open.delete(entry.chat_id)
        this.#open.set(entry.chat_id, entry.at_ms)
      }
    }
    if (others.length > 0) {
      this.#others = [...this.#others, ...others].slice(-MOST_OTHERS)
      this.#add(judgeOthers(this.#sim, this.#others))
    }
    for (const [chatId, atMs] of [...this.#open].slice(-MOST_CHATS)) {
      const chat = platform.state.chats.get(chatId)
      if (chat !== undefined) this.#add(judgeChat(this.#sim, chat))
      if (chat === undefined || journal.atMs - atMs > OPEN_MS) this.#open.delete(chatId)
    }
    return this.#latest
  }

  #add(sightings: readonly Sighting[]): void {
    // At the same time, what is wrong decides.
    for (const one of sightings) {
      const latest = this.#latest.get(one.check)
      if (latest === undefined || one.atMs > latest.atMs || (one.atMs === latest.atMs && one.state === 'wrong'))
        this.#latest.set(one.check, one)
    }
  }
}

interface Trial {
  readonly result: CheckResult
  readonly atMs: number
}

/** The state of a check, from its latest sighting or its latest trial, whichever is newer. */
function stateOf(
  check: CheckDefinition,
  sighting: Sighting | undefined,
  trial: Trial | undefined,
): Pick<ReadinessCheck, 'state' | 'by' | 'seq' | 'chat_id' | 'finding' | 'note'> {
  const nothing = { state: 'not_seen', by: null, seq: null, chat_id: null, finding: null, note: null } as const
  if (trial !== undefined && (sighting === undefined || trial.atMs >= sighting.atMs)) {
    const { outcome, findings, reason } = trial.result
    const worst = findings.find(({ level }) => level === check.level) ?? findings[0]
    if (outcome === 'pass' || outcome === 'info') return { ...nothing, state: 'right', by: 'trial' }
    if ((outcome === 'fail' || outcome === 'warn') && worst !== undefined)
      return { ...nothing, state: 'wrong', by: 'trial', finding: wireFinding(worst) }
    return { ...nothing, note: reason === null ? null : checkReasonText(reason) }
  }
  if (sighting === undefined || sighting.state === 'unknown') return nothing
  const { state, seq, chatId, finding } = sighting
  return { ...nothing, state, by: 'traffic', seq, chat_id: chatId, finding: finding && wireFinding(finding) }
}

const wireFinding = ({ code, level, happened, hint, entrySeqs }: CheckFinding) => ({
  ...{ code, level, happened, hint },
  entries: [...entrySeqs],
})

/** `cannotTry`: why a check cannot be tried; null when it can. */
function reportOf(
  sim: PlatformSimulator,
  sightings: ReadonlyMap<string, Sighting>,
  trials: ReadonlyMap<string, Trial>,
  cannotTry: (check: CheckDefinition) => string | null,
): ReadinessReport {
  const { journal } = coreOf(sim)
  const isRefused = (entry: Entry) => entry.kind === 'delivery' && entry.outcome === 'failed' && isComparable(entry)
  const refused = journal.query({ kind: 'delivery' }).findLast(isRefused)
  const checks = CHECKS.map((check): ReadinessCheck => {
    const { id, title, level, profile } = check
    const state = stateOf(check, sightings.get(id), trials.get(id))
    const isSignature = state.state === 'wrong' && (id === 'SIG-01' || id === 'SIG-07')
    const delivery_id = isSignature ? (refused?.delivery_id ?? null) : null
    return { ...{ id, title, level, profile }, ...state, delivery_id, cannot_try: cannotTry(check) }
  })
  const counts = { right: 0, wrong: 0, not_seen: 0 }
  for (const { state } of checks) counts[state]++
  const wrong = checks.filter(({ state }) => state === 'wrong').map(({ id }) => id)
  const text = `${counts.right} of ${checks.length} seen right, ${wrong.length === 0 ? 'none wrong' : `${wrong.length} wrong: ${wrong.join(', ')}`}`
  return { text, ...counts, checks }
}

/** For a simulator without a server: its traffic, and no trials. */
export const readinessOfTraffic = (sim: PlatformSimulator, traffic: TrafficReadiness): ReadinessReport =>
  reportOf(sim, traffic.sightings(), new Map(), () => 'Checks are tried with certify of handover-sim/certify.')

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
    const target = core.address.webhookUrl!
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
