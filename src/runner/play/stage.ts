/** What one play of a scenario stands on: its own simulator, its chats, and the judge who watches the journal. */
import type { Driver, DriverChat } from '../../driver/port.ts'
import type { NoteContent } from '../../journal/entry.ts'
import type { Chat } from '../../platform/state.ts'
import { makeId } from '../../runtime/ids.ts'
import { hashWords } from '../../runtime/random.ts'
import { fill, type Scope } from '../../scenario/fill.ts'
import { createReferee } from '../../scenario/judge/referee.ts'
import type { Mark } from '../../scenario/marks.ts'
import type { LaneSpec, Plan, PlannedStep } from '../../scenario/plan.ts'
import type { Referee } from '../../scenario/referee.ts'
import type { Core } from '../../simulator/core.ts'
import { type ChatOptions, newChat } from '../../simulator/new-chat.ts'
import { coreOf, type Simulator } from '../../simulator.ts'
import { createPulse, type Pulse } from './pulse.ts'

export interface StageOptions {
  readonly plan: Plan
  readonly sim: Simulator
  readonly driver: Driver | null
  /** Seed of the run; that of the simulator is drawn from it and the name of the scenario. */
  readonly seed: number
  readonly instance: number
  readonly env: Readonly<Record<string, string | undefined>>
  /** The address the intermediary calls. */
  readonly url: string
  /** Why nobody listens at the target now; null when somebody does. */
  readonly goneNow?: () => Promise<string | null>
}

/** Drawn from the name, so that a scenario has the same ids whichever others are played. */
export const seedOfPlay = (seed: number, { plan, instance }: Pick<StageOptions, 'plan' | 'instance'>): number =>
  hashWords(instance === 1 ? plan.name : `${plan.name} #${instance}`, seed)[0]

export interface Stage extends StageOptions {
  readonly core: Core
  readonly referee: Referee
  readonly pulse: Pulse
  readonly lanes: ReadonlyMap<string, Chat>
  /** A fault of ours while judging, to be told as one. */
  broken: unknown
  note(mark: Mark | NoteContentOf, chatId?: string): number
  chatOf(step: PlannedStep): Chat | null
  scopeOf(step: PlannedStep): Scope
  fill(step: PlannedStep, template: unknown): unknown
  close(): void
}

type NoteContentOf = Omit<NoteContent, 'kind'>

/** Watching begins with the first mark, so that live and saved journals are judged from the same entry on. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { plan, sim } = options
  const core = coreOf(sim)
  const referee = createReferee(plan)
  const lanes = new Map<string, Chat>()
  const stage: Stage = {
    ...options,
    core,
    referee,
    pulse: createPulse(core.journal),
    lanes,
    broken: null,
    note: ({ note, ...rest }, chatId) => {
      const chat = chatId === undefined ? {} : { chat_id: chatId }
      return core.journal.append({ kind: 'note', ...chat, note, ...rest } as NoteContent, null).seq
    },
    chatOf: step => lanes.get(step.lane) ?? null,
    scopeOf: step => referee.scopeOf(step.number),
    fill: (step, template) => fill(template, referee.scopeOf(step.number)),
    close: () => {
      unwatch()
      stage.pulse.stop()
    },
  }
  const unwatch = core.journal.subscribe(entry => {
    try {
      referee.see(entry)
    } catch (error) {
      stage.broken ??= error
    }
  })
  stage.note(startMark(stage))
  for (const lane of plan.lanes) await openLane(stage, lane, lanes)
  return stage
}

function startMark({ plan, core, driver, seed, instance, env, url, sim }: Stage): Mark {
  return {
    note: 'scenario_started',
    scenario: plan.name,
    file: plan.file,
    instance,
    seed,
    clock: core.clock.mode,
    bot: { id: core.bot.id, name: core.bot.name },
    config: sim.config(),
    env: Object.fromEntries(plan.env.map(name => [name, env[name]!])),
    sim: { url, api_key: '***', bot_id: core.bot.id },
    driver: driver?.verbs ?? null,
  }
}

/** Ids are drawn from the name of the lane: another lane, or another step, shifts none of them. */
async function openLane(stage: Stage, lane: LaneSpec, lanes: Map<string, Chat>): Promise<void> {
  const { core } = stage
  const { knobs } = core.room
  const seed = seedOfPlay(stage.seed, stage)
  const scope = { ...stage.referee.scopeOf(0), ...lane.scope }
  const filled = <T>(template: unknown) => fill(template, scope) as T
  const user = filled<ChatOptions['user']>(lane.user)
  const options: ChatOptions = {
    id: makeId(knobs['ids.chat'], seed, `lane ${lane.name}`),
    language: filled(lane.language),
    source: filled(lane.source),
    user: user === null ? null : { id: makeId(knobs['ids.user'], seed, `user of ${lane.name}`), ...user },
    ...(lane.transcript === null ? {} : { transcript: lane.transcript }),
    // A shipped conversation stands unless there are rows of its own.
    ...(lane.transcript !== null && lane.history.length === 0 ? {} : { history: filled(lane.history) }),
    ...(lane.context === null ? {} : { context: filled(lane.context) }),
    ...(lane.labels === null ? {} : { labels: filled(lane.labels) }),
  }
  const chat = await newChat(core, options)
  lanes.set(lane.name, chat)
  stage.note({ note: 'lane', chat_id: chat.id, lane: lane.name, chat: driverChat(chat) }, chat.id)
}

export const driverChat = ({ id, userId, language, source, persona }: Chat): DriverChat => ({
  id,
  user_id: userId,
  language,
  source,
  name: persona.fullName ?? '',
})
