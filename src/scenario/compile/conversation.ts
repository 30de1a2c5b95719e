/** Which chat a step is about. */
import { nearest } from '../../text/near-names.ts'
import type { Step } from '../format/step.ts'
import { patternsOf } from './call-patterns.ts'
import type { Chats } from './conversations.ts'
import type { StepCompiler } from './step-compiler.ts'
import { fillKnown } from './templates.ts'
import { TEXTS } from './texts.ts'

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
    compiler.complain([], TEXTS.unclearChat(chats.names))
  }
  return conversation
}

function named(chats: Chats, compiler: StepCompiler, written: string): string {
  const name = String(fillKnown(written, compiler.known.scope))
  if (chats.names.includes(name)) return name
  compiler.complain(['chat'], TEXTS.unknownChat(name, nearest(name, chats.names) || TEXTS.thereAre(chats.names)))
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
