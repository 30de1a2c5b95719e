/** The lanes of a scenario: its chats, and the fresh ones of parallel users. */

import { nearest } from '../../text/near-names.ts'
import type { ChatInput, ScenarioFile } from '../format/scenario.ts'
import type { Step } from '../format/step.ts'
import type { ConversationSpec } from '../plan.ts'
import { patternsOf } from './call-patterns.ts'
import type { StepCompiler } from './step-compiler.ts'
import { interpolateStatic } from './templates.ts'
import { COMPILE_TEXTS } from './texts.ts'

export interface Chats {
  /** Those the scenario names; `main` when it has one. */
  readonly names: readonly string[]
  /** The lane of a step that says nothing; null when it has to say. */
  readonly usual: string | null
  /** A new user's lane. */
  fresh(user: number): string
  use(conversation: string): void
  /** Those to be opened. */
  all(): ConversationSpec[]
}

const MAIN = 'main'

export function chatsOf(scenario: ScenarioFile): Chats {
  const named = scenario.chats === undefined ? { [MAIN]: scenario.chat ?? {} } : scenario.chats
  const names = Object.keys(named)
  const used = new Set<string>()
  const fresh: ConversationSpec[] = []
  return {
    names,
    usual: names.length === 1 ? names[0]! : null,
    fresh(user) {
      const name = `user ${fresh.length + 1}`
      fresh.push(conversationOf(name, scenario.chat ?? {}, { user }))
      return name
    },
    use: conversation => void used.add(conversation),
    all() {
      const declared = names.filter(name => fresh.length === 0 || scenario.chats !== undefined || used.has(name))
      return [...declared.map(name => conversationOf(name, named[name]!, {})), ...fresh]
    },
  }
}

/** A shipped conversation brings its own language, source, context and labels: null leaves them to it. */
function conversationOf(name: string, chat: ChatInput, scope: ConversationSpec['scope']): ConversationSpec {
  const usual = <Value>(value: Value) => (chat.transcript === undefined ? value : null)
  return {
    name,
    language: chat.language ?? usual('en'),
    source: chat.source ?? usual('web'),
    user: chat.user === undefined ? {} : chat.user,
    history: chat.history ?? [],
    transcript: chat.transcript ?? null,
    context: chat.context ?? usual(null),
    labels: chat.labels ?? usual(null),
    scope,
  }
}

/** Null when nothing says so, which is right for steps about no chat, and for lists of steps that say it themselves. */
export function conversationOfStep(
  chats: Chats,
  compiler: StepCompiler,
  step: Step,
  around: string | null,
): string | null {
  if (step.chat !== undefined) return named(chats, compiler, step.chat)
  const conversation = around ?? chats.usual
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

/** Of those nobody speaks of, the one chat of a scenario with parallel users need not be opened. */
export function isAboutChat(step: Step): boolean {
  if (CHAT_VERBS.some(verb => step[verb] !== undefined)) return true
  if (step.agent !== undefined) return step.agent !== 'away' && step.agent !== 'back'
  if (step.check !== undefined) return Object.keys(step.check).some(key => key !== 'availability')
  const calls = step.none ?? step.expect
  return calls !== undefined && !patternsAreAvailability(calls)
}

/** Availability calls belong to the bot, not to a chat. */
function patternsAreAvailability(written: NonNullable<Step['expect'] | Step['none']>): boolean {
  const patterns = patternsOf(written)
  return patterns.length > 0 && patterns.every(({ call }) => call === 'availability')
}
