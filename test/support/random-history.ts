/** Performs random commands and records the state before and after each, for checks of invariants. */
import type { Entry } from '../../src/platform/journal/entry.ts'
import type { ChatView } from '../../src/platform/rules/transcript.ts'
import type { ChatHandle } from '../../src/platform/simulator/chat-handle.ts'
import { type Command, openChats, perform, type RandomConditions } from './random-commands.ts'
import type { SimulatorSetup } from './test-simulator.ts'

export interface Step {
  readonly command: Command
  readonly status: number | null
  readonly before: readonly ChatView[]
  readonly after: readonly ChatView[]
  /** Entries that the step added, without calls and deliveries. */
  readonly effects: readonly Entry[]
}

export function optionsFor({ delay, retry, slowTranslation }: RandomConditions) {
  const translate = async (text: string, from: string, to: string) => {
    for (let wait = text.length % 3; wait > 0; wait--) await new Promise(setImmediate)
    return `[${from}>${to}] ${text}`
  }
  return { knobs: { 'bot.delay': delay, 'webhook.retry': retry }, ...(slowTranslation ? { translate } : {}) }
}

export type History = Awaited<ReturnType<typeof playCommands>>

const chatViews = (chats: readonly ChatHandle[]) => chats.map(chat => structuredClone(chat.view()))

export async function playCommands(harness: SimulatorSetup, world: RandomConditions, commands: readonly Command[]) {
  const { sim, hook } = harness
  if (world.failing > 0) hook.answerWith(({ text }) => (text.length % world.failing === 0 ? 503 : 200))
  const chats = await openChats(harness)
  const steps: Step[] = []
  const waiting: Promise<unknown>[] = []
  for (const command of commands) {
    const before = chatViews(chats)
    const after = sim.journal.nextSeq - 1
    const { status, later } = await perform(harness, chats, command)
    waiting.push(later)
    const effects = sim.journal.query({ after }).filter(entry => entry.kind !== 'api' && entry.kind !== 'delivery')
    steps.push({ command, status, before, after: chatViews(chats), effects })
  }
  await sim.settled()
  for (let more = 0; more < 4; more++) await sim.clock.advance('1h')
  await Promise.all(waiting)
  await sim.settled()
  return { steps, chats, calls: commands.filter(({ kind }) => kind === 'call' || kind === 'availability').length }
}

/** The journal without the fields that depend on wall time. */
export const withoutWallTimes = ({ sim }: SimulatorSetup): unknown[] =>
  sim.journal.query().map(entry => ({ ...entry, duration_ms: undefined, at_ms: undefined }))
