/** Shows the chats of a play as their end users saw them: at the selected step or entry, or at the end. */
import './play-chat.css'
import { useMemo } from 'preact/hooks'
import type { Entry } from '../../journal/entry.ts'
import { visible } from '../../text/terminal-text.ts'
import { ChatMessages } from '../components/chat-messages.tsx'
import { applyEntry, type ChatState, draftOf, stateOf } from '../model/chat-at.ts'
import { directionOf } from '../model/chat-format.ts'
import type { UiState } from './ui-state.ts'

export function PlayChat({ ui }: { readonly ui: UiState }) {
  const { view, play, origin } = ui
  const { conversations, entries } = play.value
  const names = Object.keys(conversations)
  const name = names.find(one => one === view.chat.value) ?? conversationOfStep(ui) ?? names[0]
  const chatId = name === undefined ? undefined : conversations[name]
  const at = shownMoment(ui)
  const chat = useMemo(() => (chatId === undefined ? null : chatOf(entries, chatId, at)), [entries, chatId, at])
  if (chat === null) return <p class="empty">There is no chat yet.</p>
  const context = {
    ...{ origin, client: null, isNow: false, selected: view.entry.value },
    select: (seq: number) => {
      view.entry.value = seq
    },
    press() {},
  }
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
      <div class="chat-window" dir={directionOf(chat.language)}>
        <ChatMessages chat={chat} context={context} />
      </div>
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
