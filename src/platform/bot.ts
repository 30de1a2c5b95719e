/** Answers user messages as the bot (W1, ST2), with the replies of the workspace or built-in ones. */
import type { Button } from '../contract/schemas.ts'
import { addBotReply } from './chats.ts'
import { textsFor } from './engines.ts'
import type { BotReply, Chat, PlatformContext } from './state.ts'
import { note, type Transaction } from './transaction.ts'

interface Phrases {
  readonly greeting: string
  readonly welcome: string
  readonly unsure: string
  readonly button: string
}

const PHRASES = {
  en: {
    greeting: 'Hi there! What can I help you with?',
    welcome: 'You are welcome! Have a nice day.',
    unsure: 'I am not sure I got that. Shall I find a colleague for you?',
    button: 'Talk to a person',
  },
  nb: {
    greeting: 'Hei! Hva kan jeg hjelpe deg med?',
    welcome: 'Bare hyggelig! Ha en fin dag.',
    unsure: 'Det var jeg ikke helt sikker på. Skal jeg finne en kollega til deg?',
    button: 'Snakk med et menneske',
  },
  de: {
    greeting: 'Hallo! Wobei kann ich Ihnen helfen?',
    welcome: 'Gern geschehen! Ich wünsche Ihnen einen schönen Tag.',
    unsure: 'Das habe ich leider nicht ganz verstanden. Soll ich Sie mit einer Person verbinden?',
    button: 'Mit einer Person sprechen',
  },
  ar: {
    greeting: 'مرحبًا! كيف يمكنني مساعدتك؟',
    welcome: 'على الرحب والسعة! أتمنى لك يومًا سعيدًا.',
    unsure: 'عذرًا، لم أفهم طلبك تمامًا. هل أحوّلك إلى أحد الزملاء؟',
    button: 'التحدث إلى موظف',
  },
}

const GREETINGS = /^(hi|hello|hey|hei|heisann|hallo|guten tag|moin|مرحبا|السلام عليكم)[\s!.,؟?]*$/iu

const THANKS = /^(thanks|thank you|thx|takk|tusen takk|danke|vielen dank|شكرا|شكرًا)(?!\p{L})[^?؟]{0,20}$/iu

const phrasesFor = (language: string) => textsFor<Phrases>(PHRASES, language)

export const handoverLabel = (language: string): string => phrasesFor(language).button

function chooseReply(
  platform: PlatformContext,
  chat: Chat,
  text: string,
): { text: string; buttons: readonly Button[] } {
  const lower = text.toLowerCase()
  const configured = platform.settings.replies.find((reply: BotReply) => lower.includes(reply.match.toLowerCase()))
  if (configured) return { text: configured.text, buttons: configured.buttons ?? [] }
  const phrases = phrasesFor(chat.language)
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
