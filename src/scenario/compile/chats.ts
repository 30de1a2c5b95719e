/** Lists the conversations of a scenario, with a new one for each parallel user, and finds the one of each step. */

import { nearest } from '../../text/error-text.ts'
import type { ChatInput, ScenarioFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import type { ConversationSpec } from '../plan.ts'
import { patternsOf } from './call-patterns.ts'
import type { StepCompiler } from './step-compiler.ts'
import { interpolateStatic } from './templates.ts'
import { COMPILE_TEXTS } from './texts.ts'

export interface Chats {
  /** The names in the scenario; `main` when it has one chat. */
  readonly names: readonly string[]
  /** The conversation of a step without `chat`; null when `chat` is required. */
  readonly defaultName: string | null
  /** Adds the conversation of a parallel user. */
  fresh(user: number): string
  use(conversation: string): void
  /** The conversations to open. */
  all(): ConversationSpec[]
}

const MAIN = 'main'

export function chatsOf(scenario: ScenarioFile): Chats {
  const named = scenario.chats === undefined ? { [MAIN]: scenario.chat ?? {} } : scenario.chats
  const names = Object.keys(named)
  const [only, ...others] = names
  const used = new Set<string>()
  const fresh: ConversationSpec[] = []
  return {
    names,
    defaultName: only !== undefined && others.length === 0 ? only : null,
    fresh(user) {
      const name = `user ${fresh.length + 1}`
      fresh.push(conversationOf(name, scenario.chat ?? {}, { user }))
      return name
    },
    use: conversation => void used.add(conversation),
    all() {
      const declared = Object.entries(named).filter(
        ([name]) => fresh.length === 0 || scenario.chats !== undefined || used.has(name),
      )
      return [...declared.map(([name, chat]) => conversationOf(name, chat, {})), ...fresh]
    },
  }
}

/** Null means the language, source, context or labels of the shipped conversation. */
function conversationOf(name: string, chat: ChatInput, scope: ConversationSpec['scope']): ConversationSpec {
  const otherwise = <Value>(value: Value) => (chat.transcript === undefined ? value : null)
  return {
    name,
    language: chat.language ?? otherwise('en'),
    source: chat.source ?? otherwise('web'),
    user: chat.user === undefined ? {} : chat.user,
    history: chat.history ?? [],
    transcript: chat.transcript ?? null,
    context: chat.context ?? otherwise(null),
    labels: chat.labels ?? otherwise(null),
    scope,
  }
}

/** Null for steps about no chat, and for lists of steps, where each step decides. */
export function conversationOfStep(
  chats: Chats,
  compiler: StepCompiler,
  step: Step,
  around: string | null,
): string | null {
  if (step.chat !== undefined) return named(chats, compiler, step.chat)
  const conversation = around ?? chats.defaultName
  if (conversation === null && (isAboutChat(step) || step.fault !== undefined)) {
    compiler.report([], COMPILE_TEXTS.unclearChat(chats.names))
  }
  return conversation
}

function named(chats: Chats, compiler: StepCompiler, written: string): string {
  const name = String(interpolateStatic(written, compiler.scope.values))
  if (chats.names.includes(name)) return name
  compiler.report(
    ['chat'],
    COMPILE_TEXTS.unknownChat(name, nearest(name, chats.names) || COMPILE_TEXTS.thereAre(chats.names)),
  )
  return name
}

const CHAT_VERBS = ['user', 'press', 'bot', 'deliver'] as const

/** Whether a step is about a chat; in a scenario with parallel users, a chat without such steps is not opened. */
export function isAboutChat(step: Step): boolean {
  if (CHAT_VERBS.some(verb => step[verb] !== undefined)) return true
  if (step.agent !== undefined) return step.agent !== 'away' && step.agent !== 'back'
  if (step.check !== undefined) return Object.keys(step.check).some(key => key !== 'availability')
  const calls = step.none ?? step.expect
  return calls !== undefined && !patternsAreAvailability(calls)
}

/** Availability calls are about the bot and not about a chat. */
function patternsAreAvailability(written: NonNullable<Step['expect'] | Step['none']>): boolean {
  const patterns = patternsOf(written)
  return patterns.length > 0 && patterns.every(({ call }) => call === 'availability')
}
