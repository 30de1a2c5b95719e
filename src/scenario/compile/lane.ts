/** Which chat a step is about. */
import { nearest } from '../../text/nearest.ts'
import type { Step } from '../format/step.ts'
import type { Chats } from './chats.ts'
import type { Here } from './here.ts'
import { fillKnown } from './templates.ts'
import { patternsOf } from './tree.ts'

/** Null when nothing says so, which is right for steps about no chat, and for lists of steps that say it themselves. */
export function laneOfStep(chats: Chats, here: Here, step: Step, around: string | null): string | null {
  if (step.chat !== undefined) return named(chats, here, step.chat)
  const lane = around ?? chats.usual
  if (lane === null && (isAboutChat(step) || step.fault !== undefined)) {
    here.complain([], `does not say which chat: write chat: ${chats.names.join(' or chat: ')}`)
  }
  return lane
}

function named(chats: Chats, here: Here, written: string): string {
  const name = String(fillKnown(written, here.known.scope))
  if (chats.names.includes(name)) return name
  const hint =
    nearest(name, chats.names) || `; there ${chats.names.length === 1 ? 'is' : 'are'} ${chats.names.join(', ')}`
  here.complain(['chat'], `${JSON.stringify(name)} is not a chat of this scenario${hint}`)
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
