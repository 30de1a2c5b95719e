/** A help desk with tickets that have public and internal comments. Each request is a ticket; the desk gives it an id. */
import type { Call, File, HelpDesk } from './intermediary.ts'

interface Comment {
  readonly id: number
  readonly author_id: number
  readonly public: boolean
  readonly body: string
  readonly attachments: readonly {
    readonly file_name: string
    readonly content_url: string
    readonly content_type: string
  }[]
}

interface Ticket {
  readonly id: number
  readonly external_id: string
  readonly requester_id: number
  status: 'new' | 'open' | 'solved'
  assignee_id: number | null
  readonly comments: Comment[]
}

interface TicketUpdate {
  readonly assignee_id?: number
  readonly status?: 'solved'
  readonly comment?: { readonly body: string; readonly public: boolean }
}

const INTERMEDIARY = 1
const AGENT = 7
const USER = 20

export function createTicketDesk(call: Call): HelpDesk {
  const tickets: Ticket[] = []
  let lastId = 100
  const add = (ticket: Ticket, author: number, isPublic: boolean, body: string, files: readonly File[] = []) => {
    const attachments = files.map(({ name, url, type }) => ({ file_name: name, content_url: url, content_type: type }))
    ticket.comments.push({ id: ++lastId, author_id: author, public: isPublic, body, attachments })
  }
  const currentOf = (chatId: string) => tickets.findLast(ticket => ticket.external_id === chatId)

  function update(ticket: Ticket, { assignee_id, status, comment }: TicketUpdate) {
    const chatId = ticket.external_id
    if (assignee_id !== undefined) {
      ticket.assignee_id = assignee_id
      ticket.status = 'open'
      add(ticket, INTERMEDIARY, false, 'The ticket is assigned.')
      call(chatId, 'start', { supports_attachment: true })
    }
    if (comment !== undefined) {
      add(ticket, AGENT, comment.public, comment.body)
      if (comment.public) call(chatId, 'message/', { message: comment.body })
    }
    if (status === 'solved') {
      ticket.status = 'solved'
      call(chatId, 'end')
    }
  }

  return {
    requested(chatId) {
      const current = currentOf(chatId)
      if (current !== undefined && current.status !== 'solved') return
      const about = { id: ++lastId, external_id: chatId, requester_id: USER }
      const ticket: Ticket = { ...about, status: 'new', assignee_id: null, comments: [] }
      tickets.push(ticket)
      add(ticket, INTERMEDIARY, false, 'The user asks for an agent.')
    },
    received(chatId, text, files) {
      const ticket = currentOf(chatId)
      if (ticket !== undefined) add(ticket, USER, true, text, files)
    },
    answer({ route, query, body }) {
      if (route === 'GET /tickets') {
        const found = tickets.filter(ticket => ticket.external_id === query.get('external_id'))
        return { tickets: found.map(({ comments: _, ...ticket }) => ticket) }
      }
      const [, method, id, comments] = /^(GET|PUT) \/tickets\/(\d+)(\/comments)?$/.exec(route) ?? []
      const ticket = tickets.find(one => one.id === Number(id))
      if (ticket === undefined) return undefined
      if (method === 'GET' && comments !== undefined) return { comments: ticket.comments }
      if (method !== 'PUT') return undefined
      update(ticket, body.ticket)
      return { ticket: { id: ticket.id, status: ticket.status } }
    },
  }
}
