/** Computes when the steps of a scenario begin to look at calls, and when their time is up. */
import { isCheck, isStimulus, type Plan, type PlannedItem, type PlannedStep } from '../scenario/plan.ts'
import { BEGINNING, type ClaimRegistry, type Moment } from './claims.ts'
import type { ConversationKey, JournalIndex } from './journal-index.ts'
import type { Deadline, EvaluatedStep, StepWindows, Stimulus } from './step-evaluator.ts'

export class Windows implements StepWindows {
  readonly #plan: Plan
  readonly #index: JournalIndex
  readonly #claims: ClaimRegistry
  /** The stimuli of a turn by each number it could be opened with. */
  readonly #turns = new Map<number, PlannedStep[]>()

  constructor(plan: Plan, index: JournalIndex, claims: ClaimRegistry) {
    this.#plan = plan
    this.#index = index
    this.#claims = claims
    this.#collectTurns(plan.steps)
    this.#collectTurns(plan.finally)
  }

  #collectTurns(items: readonly PlannedItem[]): void {
    let turn: PlannedStep[] = []
    for (const item of items) {
      if (item.kind === 'parallel') {
        turn = []
        for (const branch of item.branches) this.#collectTurns(branch)
      } else if (isCheck(item)) turn = []
      else if (isStimulus(item)) {
        turn.push(item)
        this.#turns.set(item.number, turn)
      }
    }
  }

  getStart({ number }: EvaluatedStep) {
    return this.#index.getStart(number)
  }

  findEnd({ number }: EvaluatedStep) {
    return this.#index.findEnd(number)
  }

  /** A scenario that lost entries gets no verdict, so none of its turns is incomplete. */
  isTurnComplete(): boolean {
    return true
  }

  /** When the first stimulus of the turn began. */
  turnStart({ number }: EvaluatedStep): Moment {
    return this.#firstStart(this.#index.steps.get(number)?.turn ?? [])
  }

  #firstStart(steps: readonly number[]): Moment {
    let first = BEGINNING
    for (const step of steps) {
      const start = this.#index.findStart(step)
      if (start !== null && (first === BEGINNING || start.seq < first.seq))
        first = { atMs: start.at_ms, seq: start.seq, step }
    }
    return first
  }

  /** Where the step with this id began. */
  since(id: string): Moment {
    for (const step of this.#index.steps.values()) if (step.id === id) return this.#firstStart([step.number])
    return BEGINNING
  }

  /** The latest stimulus of the turn that has begun, of its own conversation where there is one. */
  #latestStimulus(step: EvaluatedStep): PlannedStep | null {
    let latest: PlannedStep | null = null
    let latestSeq = 0
    const turn = this.#index.steps.get(step.number)?.turn ?? []
    for (const stimulus of turn.flatMap(opener => this.#turns.get(opener) ?? [])) {
      const start = this.#index.findStart(stimulus.number)
      if (stimulus.number >= step.number || start === null) continue
      const isOwn = stimulus.conversation === step.conversation
      const isBetter =
        latest === null || isOwn === (latest.conversation === step.conversation) ? start.seq > latestSeq : isOwn
      if (!isBetter) continue
      latest = stimulus
      latestSeq = start.seq
    }
    return latest
  }

  findStimulus(step: EvaluatedStep): Stimulus | null {
    const latest = this.#latestStimulus(step)
    if (latest === null) return null
    const end = this.#index.findEnd(latest.number)
    return {
      seq: this.#index.getStart(latest.number).seq,
      name: latest,
      verb: latest.action.verb,
      hasEvent: end === null ? null : Boolean(end.delivery_id),
    }
  }

  /** When the next turn of a conversation begins after a step; null when there is none. */
  nextTurnStart({ number, conversation }: EvaluatedStep): number | null {
    let nextMs: number | null = null
    for (const later of this.#index.steps.values()) {
      if (later.number <= number || later.conversation !== conversation) continue
      const { atMs, step } = this.turnStart(later)
      if (step !== null && step > number) nextMs = Math.min(nextMs ?? atMs, atMs)
    }
    return nextMs
  }

  /**
   * `within` counts from the turn's stimulus or the conversation's last claimed call, whichever is later, and is meant
   * strictly. A stimulus that takes time itself, so that nothing reaches the intermediary meanwhile, counts from its end.
   * The default only says how long to wait: it counts from the start of the step when that is later still.
   */
  deadlineOf(step: EvaluatedStep, conversation: ConversationKey, withinMs: number | null): Deadline {
    const index = this.#index
    const startMs = index.getStart(step.number).at_ms
    const ms = withinMs ?? this.#plan.timeouts.expectMs
    const fromStart: Deadline = { atMs: startMs + ms, ms, from: null }
    const stimulus = this.#latestStimulus(step)
    const claimed = this.#claims.floorOf(conversation)
    let baseMs = Number.NEGATIVE_INFINITY
    if (stimulus !== null) {
      const takesTime = stimulus.action.verb === 'wait' || stimulus.action.verb === 'target'
      const end = takesTime ? index.findEnd(stimulus.number) : null
      baseMs = (end ?? index.getStart(stimulus.number)).at_ms
    }
    const isClaimLater = claimed !== null && claimed.readAt > baseMs
    if (isClaimLater) baseMs = claimed.readAt
    if (!isClaimLater && stimulus === null) return fromStart
    if (withinMs === null && baseMs < startMs) return fromStart
    const from = isClaimLater ? { seq: claimed.seq } : { step: stimulus! }
    return { atMs: baseMs + ms, ms, from }
  }
}
