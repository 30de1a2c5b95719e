/** A help desk in which a conversation has messages of numeric types, and a status that is toggled. */
import type { Call, File, HelpDesk } from './intermediary.ts'

/** The types of messages: of the user, of the agent, of the desk itself. */
const INCOMING = 0
const OUTGOING = 1
const ACTIVITY = 2

interface Message {
  readonly id: number
  readonly message_type: number
  readonly content: string | null
  readonly private: boolean
  readonly attachments?: readonly {
    readonly file_name: string
    readonly data_url: string
    readonly content_type: string
  }[]
}

interface Conversation {
  readonly id: string
  status: 'open' | 'resolved'
  isTyping: boolean
  readonly messages: Message[]
}

export function createMessagesDesk(call: Call): HelpDesk {
  const conversations = new Map<string, Conversation>()
  let lastId = 0
  const add = ({ messages }: Conversation, type: number, content: string | null, files: readonly File[] = []) => {
    const attachments = files.map(({ name, url, type }) => ({ file_name: name, data_url: url, content_type: type }))
    const message = { id: ++lastId, message_type: type, content, private: false }
    messages.push(files.length === 0 ? message : { ...message, attachments })
  }
  const setTyping = (conversation: Conversation, isTyping: boolean) => {
    if (isTyping) call(conversation.id, 'typing_start', { timeout: 10_000 })
    else if (conversation.isTyping) call(conversation.id, 'typing_stop')
    conversation.isTyping = isTyping
  }
  const setStatus = (conversation: Conversation, status: Conversation['status']) => {
    conversation.status = status
    add(conversation, ACTIVITY, `The conversation is ${status}.`)
  }

  return {
    requested(id) {
      const conversation: Conversation = conversations.get(id) ?? {
        ...{ id, status: 'resolved', isTyping: false },
        messages: [],
      }
      if (conversation.status === 'open') return
      conversations.set(id, conversation)
      setStatus(conversation, 'open')
      add(conversation, ACTIVITY, 'The user asks for an agent.')
    },
    received(id, text, files) {
      const conversation = conversations.get(id)
      if (conversation !== undefined) add(conversation, INCOMING, text === '' ? null : text, files)
    },
    answer({ route, body }) {
      const [, method, id = '', action] = /^(GET|POST) \/conversations\/([^/]+)\/(\w+)$/.exec(route) ?? []
      const conversation = conversations.get(id)
      if (conversation === undefined) return undefined
      switch (`${method} ${action}`) {
        case 'GET messages':
          return { payload: conversation.messages }
        case 'POST assignments':
          add(conversation, ACTIVITY, 'The conversation is assigned.')
          call(id, 'start', { supports_attachment: true })
          return { id: body.assignee_id }
        case 'POST messages':
          add(conversation, OUTGOING, body.content)
          setTyping(conversation, false)
          call(id, 'message/', { message: body.content })
          return conversation.messages.at(-1)
        case 'POST toggle_typing_status':
          setTyping(conversation, body.typing_status === 'on')
          return {}
        case 'POST toggle_status':
          // Without a status it changes to the other one.
          setStatus(conversation, body.status ?? (conversation.status === 'open' ? 'resolved' : 'open'))
          if (conversation.status === 'resolved') call(id, 'end')
          return { current_status: conversation.status }
        default:
          return undefined
      }
    },
  }
}
