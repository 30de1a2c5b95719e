/** Shows a chat as its end user sees it, and lets a person be that user: texts, files, and the request for an agent. */
import './user-chat.css'
import type { Signal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../../base/text/error-text.ts'
import type { ControlClient } from '../client/control.ts'
import { ChosenFiles } from '../components/chat-file.tsx'
import type { MessageContext } from '../components/chat-message.tsx'
import { ChatMessages } from '../components/chat-messages.tsx'
import { useShortcuts } from '../components/shortcuts.tsx'
import { directionOf } from '../model/chat-format.ts'
import type { ChatState } from '../model/chat-items.ts'
import { ChatsHead } from './chats-head.tsx'
import { joinTexts, NO_USER_DRAFT, type UserDraft } from './drafts.ts'
import { useIsProxy, usePlatformStore } from './platform/platform-section.tsx'
import { useSession } from './session-context.ts'

export function UserChat() {
  const session = useSession()
  const { chat, chatId, chats, log, view } = session
  const id = chatId.value
  const shown = chat.value
  const lastSeq = log.value.chats.get(id ?? '')?.at(-1)?.seq
  useEffect(() => {
    if (id !== null && view.at.value === null) chats.markRead(id)
  }, [id, chats, lastSeq, view.at.value])
  return (
    <div class="user-chat">
      <ChatsHead chatId={id} chat={shown} />
      {id === null ? null : !chats.ids.value.includes(id) ? (
        <p class="empty">At this moment, the chat has not begun.</p>
      ) : shown === null ? null : (
        <ChatWindow key={id} chatId={id} chat={shown} draft={session.findDraft('user message', id, NO_USER_DRAFT)} />
      )}
    </div>
  )
}

interface ChatWindowProps {
  readonly chatId: string
  readonly chat: ChatState
  readonly draft: Signal<UserDraft>
}

/** What the user's browser shows: mirrored for languages that are written from right to left. */
function ChatWindow({ chatId, chat, draft }: ChatWindowProps) {
  const session = useSession()
  const { client, origin, view } = session
  const isProxy = useIsProxy()
  const buttonForm = usePlatformStore().moment.value?.config['buttons.form'] === 'own' ? 'own' : 'typed'
  // A chat in which the user acts stays, also when a newer one begins.
  const stay = () => {
    if (view.chat.peek() !== chatId) view.chat.value = chatId
  }
  const isNow = view.at.value === null && !isProxy
  const selected = view.entry.value
  const context = useMemo(
    (): MessageContext => ({
      origin,
      client,
      isNow,
      buttonForm,
      selected,
      select: seq => (view.entry.value = seq),
      press: button => session.act(() => client.send('POST', `${pathOf(chatId)}/press`, { body: { button } })),
    }),
    [session, chatId, isNow, buttonForm, selected],
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can be chosen with the button as well
    <div
      class="chat-window"
      dir={directionOf(chat.language)}
      onFocusCapture={stay}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        event.preventDefault()
        if (isNow) addFiles(event.dataTransfer, draft)
      }}
    >
      <ChatMessages chat={chat} context={context} />
      {isProxy ? null : <UserComposer chatId={chatId} draft={draft} />}
    </div>
  )
}

interface UserComposerProps {
  readonly chatId: string
  readonly draft: Signal<UserDraft>
}

function UserComposer({ chatId, draft }: UserComposerProps) {
  const { client, view, chatToWriteIn } = useSession()
  /** The user cannot act earlier. */
  const isNow = view.at.value === null
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const problemId = useId()
  const { text, files } = draft.value
  useShortcuts('End user', { m: ['Write as the user', () => field.current?.focus()] })
  useLayoutEffect(() => grow(field.current), [text])
  useEffect(() => {
    if (chatToWriteIn.value !== chatId || field.current === null) return
    chatToWriteIn.value = null
    field.current.focus()
  }, [chatToWriteIn.value])
  const run = (action: Promise<unknown>, undo?: () => void) => {
    setProblem(null)
    action.catch((error: unknown) => {
      setProblem(messageOf(error))
      undo?.()
    })
  }
  const change = (part: Partial<UserDraft>) => {
    draft.value = { ...draft.peek(), ...part }
  }
  const send = (event: Event) => {
    event.preventDefault()
    const sent = draft.peek()
    if (sent.text.trim() === '' && sent.files.length === 0) return
    draft.value = NO_USER_DRAFT
    run(sendMessage(client, chatId, sent), () => {
      const later = draft.peek()
      change({ text: joinTexts(sent.text, later.text), files: [...sent.files, ...later.files] })
    })
  }
  const askForPerson = () => run(client.send('POST', `${pathOf(chatId)}/press`, { body: { button: 'handover' } }))
  return (
    <form class="user-composer" onSubmit={send}>
      {files.length === 0 ? null : (
        <ChosenFiles files={files} onRemove={file => change({ files: files.filter(chosen => chosen !== file) })} />
      )}
      <fieldset class="stack" disabled={!isNow}>
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          aria-label="Message of the user"
          aria-describedby={problem === null ? undefined : problemId}
          placeholder="Write as the user"
          value={text}
          onInput={({ currentTarget }) => change({ text: currentTarget.value })}
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send(event)
            // Outside of the field, the keys are shortcuts.
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
          onPaste={event => addFiles(event.clipboardData, draft) && event.preventDefault()}
        />
        <div class="buttons">
          <button type="button" onClick={() => picker.current?.click()}>
            Attach files
          </button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files of the user"
            onChange={({ currentTarget }) => {
              addFiles(currentTarget, draft)
              currentTarget.value = ''
            }}
          />
          <button type="button" onClick={askForPerson}>
            Ask for a person
          </button>
          <button type="submit" class="primary">
            Send
          </button>
        </div>
      </fieldset>
      <p id={problemId} class="composer-problem" role="alert" lang="en" dir="ltr">
        {problem}
      </p>
    </form>
  )
}

const pathOf = (chatId: string) => `/chats/${encodeURIComponent(chatId)}`

function sendMessage(client: ControlClient, chatId: string, { text, files }: UserDraft): Promise<unknown> {
  const path = `${pathOf(chatId)}/messages`
  if (files.length === 0) return client.send('POST', path, { body: { text } })
  const form = new FormData()
  if (text !== '') form.set('text', text)
  for (const file of files) form.append('files', file)
  return client.send('POST', path, { body: form })
}

/** The field is as high as its text, up to the limit of the style sheet. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return
  field.style.blockSize = 'auto'
  field.style.blockSize = `${field.scrollHeight + 2}px`
}

/** Takes files that were chosen, dropped or pasted; returns whether there were any. */
function addFiles(data: { readonly files: FileList | null } | null, draft: Signal<UserDraft>): boolean {
  const added = [...(data?.files ?? [])]
  const { text, files } = draft.peek()
  if (added.length > 0) draft.value = { text, files: [...files, ...added] }
  return added.length > 0
}
