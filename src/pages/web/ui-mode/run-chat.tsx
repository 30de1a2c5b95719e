/** Shows the chats of a run as their end users saw them: at the selected step or entry, or at the end. */
import { useMemo } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { visible } from '../../../base/text/terminal-text.ts'
import type { Entry } from '../../../platform/journal/entry.ts'
import { ChatMessages } from '../components/chat-messages.tsx'
import { applyEntry, type ChatState, draftOf, stateOf } from '../model/chat-at.ts'
import { beginningOfEntries, missingMessages } from '../model/chat-beginning.ts'
import { directionOf } from '../model/chat-format.ts'
import { type UiState, useUi } from './ui-state.ts'

export function RunChat() {
  const ui = useUi()
  const { view, shown, origin } = ui
  const { conversations, entries } = shown.value
  const names = Object.keys(conversations)
  const name =
    names.find(one => one === view.chat.value) ??
    ui.shown.value.steps.find(({ number }) => number === ui.view.step.value)?.conversation ??
    names[0]
  const chatId = name === undefined ? undefined : conversations[name]
  const at = shownMoment(ui)
  const chatEntries = useMemo(() => entries.filter(({ chat_id }) => chat_id === chatId), [entries, chatId])
  const chat = useMemo(() => chatOf(chatEntries, at), [chatEntries, at])
  if (chatId === undefined) return <p class="empty">There is no chat yet.</p>
  const context = {
    ...{ origin, client: null, isNow: false, selected: view.entry.value },
    select: (seq: number) => {
      view.entry.value = seq
    },
    press() {},
  }
  return (
    <div class="run-chat">
      {names.length < 2 ? null : (
        <fieldset class="run-chats">
          <legend class="visually-hidden">Chat</legend>
          {names.map(one => (
            <button key={one} type="button" aria-pressed={one === name} onClick={() => (view.chat.value = one)}>
              {visible(one)}
            </button>
          ))}
        </fieldset>
      )}
      {at === null ? null : <Moment at={at} />}
      <Missing count={missingMessages(chatEntries)} />
      <div class="chat-window" dir={directionOf(chat.language)}>
        <ChatMessages chat={chat} context={context} />
      </div>
    </div>
  )
}

/** The selected entry, or the end of the selected step; null for the end of the run. */
function shownMoment({ view, shown }: UiState): number | null {
  const step = shown.value.steps.find(({ number }) => number === view.step.value)
  return view.entry.value ?? step?.endSeq ?? null
}

function Moment({ at }: { readonly at: number }) {
  const { view } = useUi()
  const text = view.entry.value === null ? `After step ${view.step.value}` : `After entry #${at}`
  const toEnd = () => {
    view.entry.value = null
    view.step.value = null
  }
  return (
    <p class="run-moment">
      {text}
      <button type="button" class="link" onClick={toEnd}>
        Show the end
      </button>
    </p>
  )
}

/** Says that the chat had messages before the journal began. */
function Missing({ count }: { readonly count: number | null }) {
  if (count === 0) return null
  return (
    <p class="hint run-missing">
      {count === null
        ? 'Earlier messages of this chat are not shown: the journal has lost its first entries.'
        : `${counted(count, 'earlier message')} of this chat ${count === 1 ? 'is' : 'are'} not shown: the journal begins after ${count === 1 ? 'it' : 'them'}.`}
    </p>
  )
}

function chatOf(entries: readonly Entry[], at: number | null): ChatState {
  const draft = draftOf(beginningOfEntries(entries))
  for (const entry of entries) {
    if (at !== null && entry.seq > at) break
    applyEntry(draft, entry)
  }
  return stateOf(draft)
}
