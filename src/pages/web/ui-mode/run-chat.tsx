/** Shows the chats of a run as their end users saw them: at the selected step or entry, or at the end. */
import { useMemo } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { visible } from '../../../base/text/terminal-text.ts'
import { ChatMessages } from '../components/chat-messages.tsx'
import { directionOf } from '../model/chat-format.ts'
import { chatOfEntries, missingMessages } from '../model/chat-items.ts'
import { useUi } from './ui-state.ts'

export function RunChat() {
  const { view, shown, origin, showEntry } = useUi()
  const { conversations, entries, steps } = shown.value
  const step = steps.find(({ number }) => number === view.step.value)
  const names = Object.keys(conversations)
  const name = names.find(chatName => chatName === view.chat.value) ?? step?.conversation ?? names[0]
  const chatId = name === undefined ? undefined : conversations[name]
  // The selected entry, or the end of the selected step; null for the end of the run.
  const at = view.entry.value ?? step?.endSeq ?? null
  const chatEntries = useMemo(() => entries.filter(({ chat_id }) => chat_id === chatId), [entries, chatId])
  const chat = useMemo(() => chatOfEntries(chatEntries, at ?? Number.MAX_SAFE_INTEGER), [chatEntries, at])
  // Messages that the chat had before the journal began; null when they cannot be counted.
  const missing = missingMessages(chatEntries)
  if (chatId === undefined) return <p class="empty">There is no chat yet.</p>
  const context = {
    ...{ origin, client: null, isNow: false, buttonForm: 'typed' as const, selected: view.entry.value },
    select: showEntry,
    press() {},
  }
  const showEnd = () => {
    view.entry.value = null
    view.step.value = null
  }
  return (
    <div class="run-chat">
      {names.length < 2 ? null : (
        <fieldset class="run-chats">
          <legend class="visually-hidden">Chat</legend>
          {names.map(chatName => (
            <button
              key={chatName}
              type="button"
              aria-pressed={chatName === name}
              onClick={() => (view.chat.value = chatName)}
            >
              {visible(chatName)}
            </button>
          ))}
        </fieldset>
      )}
      {at === null ? null : (
        <p class="run-moment">
          {view.entry.value === null ? `After step ${view.step.value}` : `After entry #${at}`}
          <button type="button" class="link" onClick={showEnd}>
            Show the end
          </button>
        </p>
      )}
      {missing === 0 ? null : (
        <p class="hint run-missing">
          {missing === null
            ? 'Earlier messages of this chat are not shown: the journal has lost its first entries.'
            : `${counted(missing, 'earlier message')} of this chat ${missing === 1 ? 'is' : 'are'} not shown: the journal begins after ${missing === 1 ? 'it' : 'them'}.`}
        </p>
      )}
      <div class="chat-window" dir={directionOf(chat.language)}>
        <ChatMessages chat={chat} context={context} />
      </div>
    </div>
  )
}
