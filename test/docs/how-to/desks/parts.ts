/** A help desk in which a conversation has parts of several types, with HTML bodies. The id of the chat is its reference. */
import type { Call, HelpDesk } from './intermediary.ts'

interface Part {
  readonly part_type: 'open' | 'comment' | 'note' | 'assignment' | 'close'
  readonly author: { readonly type: 'user' | 'admin' | 'bot' }
  readonly body: string | null
  readonly attachments: readonly { readonly name: string; readonly url: string; readonly content_type: string }[]
}

interface Conversation {
  readonly id: string
  isOpen: boolean
  readonly parts: Part[]
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const htmlOf = (text: string) =>
  `<p class="intro">${text.replace(/[&<>"]/g, character => ESCAPES[character]!).replaceAll('\n', '<br>')}</p>`

/** Reads the HTML of an agent, as an intermediary does before it calls the platform. */
const textOf = (html: string) =>
  html
    .replace(/<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&\w+;/g, entity => Object.keys(ESCAPES).find(one => ESCAPES[one] === entity)!)

const from = (type: Part['author']['type'], part_type: Part['part_type'], body: string | null = null): Part => ({
  ...{ part_type, author: { type }, body },
  attachments: [],
})

export function createPartsDesk(call: Call): HelpDesk {
  const conversations = new Map<string, Conversation>()

  /** What an agent adds; false: there is no such part. */
  function add(conversation: Conversation, part_type: string, body: string | null): boolean {
    const { id, parts } = conversation
    if (part_type === 'assignment') {
      parts.push(from('admin', 'assignment'))
      call(id, 'start', { supports_attachment: true })
    } else if (part_type === 'comment' && body !== null) {
      parts.push(from('admin', 'comment', body))
      call(id, 'message/', { message: textOf(body) })
    } else if (part_type === 'close') {
      conversation.isOpen = false
      parts.push(from('admin', 'close'))
      call(id, 'end')
    } else return false
    return true
  }

  return {
    requested(id) {
      const conversation = conversations.get(id) ?? { id, isOpen: false, parts: [] }
      if (conversation.isOpen) return
      conversation.isOpen = true
      conversation.parts.push(from('user', 'open'), from('bot', 'note', htmlOf('The user asks for an agent.')))
      conversations.set(id, conversation)
    },
    received(id, text, files) {
      const attachments = files.map(({ name, url, type }) => ({ name, url, content_type: type }))
      conversations.get(id)?.parts.push({ ...from('user', 'comment', text === '' ? null : htmlOf(text)), attachments })
    },
    answer({ route, body }) {
      const [, method, id = '', parts] = /^(GET|POST) \/conversations\/([^/]+)(\/parts)?$/.exec(route) ?? []
      const conversation = conversations.get(id)
      if (conversation === undefined) return undefined
      const { isOpen } = conversation
      if (method === 'GET') return { id, state: isOpen ? 'open' : 'closed', conversation_parts: conversation.parts }
      return parts !== undefined && add(conversation, body.part_type, body.body ?? null) ? { id } : undefined
    },
  }
}
