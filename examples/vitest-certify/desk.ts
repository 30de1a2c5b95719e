/** A help desk in memory: the agent's side of each chat. */
import type { AgentFunctions } from 'handover-sim'
import type { Outbox } from './platform.js'

interface Item {
  readonly request?: boolean
  readonly text?: string
  readonly attachments?: readonly { readonly name: string; readonly url: string; readonly type: string }[]
}

interface Conversation {
  status: 'pending' | 'open' | 'closed'
  readonly inbox: Item[]
}

const SENDER = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
const LANGUAGES = ['en']

export class Desk {
  readonly #conversations = new Map<string, Conversation>()
  readonly #outbox: Outbox

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  /** A second event for a request that waits or is answered already opens nothing. */
  requested(chatId: string): void {
    const known = this.#conversations.get(chatId)
    if (known !== undefined && known.status !== 'closed') return
    this.#conversations.set(chatId, { status: 'pending', inbox: [{ request: true }] })
  }

  /** Keeps a message that came before its request or after the end: the agent reads it, and nothing is sent. */
  received(chatId: string, item: Item): void {
    const conversation = this.#conversations.get(chatId) ?? { status: 'closed', inbox: [] }
    this.#conversations.set(chatId, conversation)
    conversation.inbox.push(item)
  }

  /** What the agent does, as an agent driver. */
  readonly agent: AgentFunctions = {
    accept: ({ chat }) => {
      this.#of(chat.id).status = 'open'
      this.#outbox.send(chat.id, 'start', {
        sender: { ...SENDER, language_codes: LANGUAGES },
        supports_attachment: true,
      })
    },
    says: ({ chat, text }) => {
      if (this.#of(chat.id).status !== 'open') throw new Error('The conversation is not open.')
      this.#outbox.send(chat.id, 'message/', { message: text, sender: SENDER })
    },
    type: ({ chat }) => this.#outbox.send(chat.id, 'typing_start', { timeout: 5000 }),
    stop: ({ chat }) => this.#outbox.send(chat.id, 'typing_stop', {}),
    leave: ({ chat }) => {
      this.#of(chat.id).status = 'closed'
      this.#outbox.send(chat.id, 'end', { sender: SENDER })
    },
    away: () => this.#outbox.availability('CLOSED'),
    back: () => this.#outbox.availability('OPEN'),
    inbox: ({ chat }) => this.#conversations.get(chat.id)?.inbox ?? [],
  }

  #of(chatId: string): Conversation {
    const conversation = this.#conversations.get(chatId)
    if (conversation === undefined) throw new Error(`There is no conversation ${chatId}.`)
    return conversation
  }
}
