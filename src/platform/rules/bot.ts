/** Answers user messages as the bot (W1, ST2), with the replies of the workspace or built-in ones. */
import { botTexts } from '../contract/bot-texts.ts'
import type { Button } from '../contract/schemas.ts'
import { addBotReply } from './chats.ts'
import type { BotReply, Chat, PlatformContext } from './state.ts'
import { note, type Transaction } from './state.ts'

const GREETINGS =
  /^(hi|hello|hey|hei|heisann|hallo|guten tag|moin|hej|hejsan|hallå|goddag|hoi|moi|bonjour|salut|hola|buenos días|ciao|buongiorno|olá|bom dia|مرحبا|السلام عليكم)[\s!.,؟?]*$/iu

const THANKS =
  /^(thanks|thank you|thx|takk|tusen takk|danke|vielen dank|tack|tak|bedankt|dank u|kiitos|merci|gracias|grazie|obrigado|obrigada|شكرا|شكرًا)(?!\p{L})[^?؟]{0,20}$/iu

export const handoverLabel = (language: string): string => botTexts(language).button

function chooseReply(
  platform: PlatformContext,
  chat: Chat,
  text: string,
): { text: string; buttons: readonly Button[] } {
  const lower = text.toLowerCase()
  const configured = platform.settings.replies.find((reply: BotReply) => lower.includes(reply.match.toLowerCase()))
  if (configured) return { text: configured.text, buttons: configured.buttons ?? [] }
  const phrases = botTexts(chat.language)
  if (GREETINGS.test(text.trim())) return { text: phrases.greeting, buttons: [] }
  if (THANKS.test(text.trim())) return { text: phrases.welcome, buttons: [] }
  return { text: phrases.unsure, buttons: [{ label: phrases.button, handover: true }] }
}

/** Answers a user message now or after `bot.delay`; the bot does not answer while an agent has the chat (ST3, ST12). */
export function answerUser(platform: PlatformContext, chat: Chat, text: string, transaction: Transaction): void {
  const reply = chooseReply(platform, chat, text)
  const delay = platform.knobs['bot.delay']
  if (delay === 0) return botSays(platform, chat, reply.text, reply.buttons, transaction)
  const deadline = { kind: 'reply', chatId: chat.id, ...reply } as const
  platform.state.deadlines.set(`reply ${chat.id} ${++chat.counter}`, platform.nowMs() + delay, deadline)
}

export function botSays(
  platform: PlatformContext,
  chat: Chat,
  text: string,
  buttons: readonly Button[],
  transaction: Transaction,
): void {
  if (chat.status === 'agent') return
  const message = addBotReply(platform, chat, text, buttons)
  note(transaction, 'bot_message', chat.id, {
    message_id: message.id,
    text,
    ...(buttons.length > 0 ? { buttons } : {}),
  })
}
