/** Opens conversations as far as the agent driver allows. */
import type { InboxItem } from '../agent-driver/driver.ts'
import { type CheckChat, expectAcknowledged } from './chat.ts'
import type { CheckContext } from './context.ts'

export const canDo = ({ driver }: CheckContext, verb: string): boolean => driver?.verbs.includes(verb) ?? false

/** Opens a chat whose user asks for an agent. An agent takes it over, unless the driver cannot accept. */
export async function openConversation(check: CheckContext, name: string): Promise<CheckChat> {
  const chat = await check.chat(name)
  if (canDo(check, 'accept')) await chat.takeOver()
  else expectAcknowledged(check, await chat.press())
  return chat
}

/** A help desk may show more with a text, such as the name of the user. */
export const timesSeen = (items: readonly InboxItem[], text: string): number =>
  items.filter(item => item.text?.includes(text)).length
