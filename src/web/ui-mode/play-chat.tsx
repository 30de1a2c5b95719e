/** Shows the chats of a play as their end users saw them: at the selected step or entry, or at the end. */
import './play-chat.css'
import { useMemo } from 'preact/hooks'
import type { Entry } from '../../journal/entry.ts'
import { visible } from '../../text/terminal-text.ts'
import { applyEntry, type ChatItem, type ChatState, draftOf, stateOf } from '../model/chat-at.ts'
import type { UiState } from './ui-state.ts'

export function PlayChat({ ui }: { readonly ui: UiState }) {
  const { view, play } = ui
  const { conversations, entries } = play.value
  const names = Object.keys(conversations)
  const name = names.find(one => one === view.chat.value) ?? conversationOfStep(ui) ?? names[0]
  const chatId = name === undefined ? undefined : conversations[name]
  const at = shownMoment(ui)
  const chat = useMemo(() => (chatId === undefined ? null : chatOf(entries, chatId, at)), [entries, chatId, at])
  if (chat === null) return <p class="empty">There is no chat yet.</p>
  return (
    <div class="play-chat">
      {names.length < 2 ? null : (
        <fieldset class="play-chats">
          <legend class="visually-hidden">Chat</legend>
          {names.map(one => (
            <button key={one} type="button" aria-pressed={one === name} onClick={() => (view.chat.value = one)}>
              {visible(one)}
            </button>
          ))}
        </fieldset>
      )}
      {at === null ? null : <Moment ui={ui} at={at} />}
      <Messages chat={chat} />
    </div>
  )
}

const conversationOfStep = ({ view, play }: UiState): string | undefined =>
  play.value.steps.find(({ number }) => number === view.step.value)?.conversation

/** The selected entry, or the end of the selected step; null for the end of the play. */
function shownMoment({ view, play }: UiState): number | null {
  const step = play.value.steps.find(({ number }) => number === view.step.value)
  return view.entry.value ?? step?.endSeq ?? null
}

function Moment({ ui: { view }, at }: { readonly ui: UiState; readonly at: number }) {
  const text = view.entry.value === null ? `After step ${view.step.value}` : `After entry #${at}`
  const toEnd = () => {
    view.entry.value = null
    view.step.value = null
  }
  return (
    <p class="play-moment">
      {text}
      <button type="button" class="link" onClick={toEnd}>
        Show the end
      </button>
    </p>
  )
}

function chatOf(entries: readonly Entry[], chatId: string, at: number | null): ChatState {
  const draft = draftOf()
  for (const entry of entries) {
    if (at !== null && entry.seq > at) break
    if (entry.chat_id === chatId) applyEntry(draft, entry)
  }
  return stateOf(draft)
}

const SENDERS = { user: 'User', bot: 'Bot', agent: 'Agent' } as const

function Messages({ chat: { items, typing, agent } }: { readonly chat: ChatState }) {
  return (
    <>
      <ol class="play-messages" aria-label="Messages">
        {items.map(item => (
          <Item key={item.kind === 'message' ? item.id : `line ${item.seq}`} item={item} />
        ))}
      </ol>
      {typing ? <p class="hint">{visible(agent?.name ?? 'The agent')} is typing</p> : null}
    </>
  )
}

function Item({ item }: { readonly item: ChatItem }) {
  if (item.kind === 'line') return <li class="play-line">{visible(`${item.line} ${item.detail}`)}</li>
  const { from, name, text, attachments } = item
  return (
    <li class={`play-message ${from}`}>
      <small dir="auto">{name || SENDERS[from]}</small>
      <p dir="auto">{text}</p>
      {attachments.map(file => (
        <p key={file.url}>{file.name}</p>
      ))}
    </li>
  )
}
