/** Lets a person write as the user: texts, files that are chosen, dropped or pasted, and the request for an agent. */
import './user-composer.css'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../text/error-text.ts'
import type { ControlClient } from '../client/control.ts'
import { ChosenFiles } from '../components/chat-file.tsx'
import { useShortcut } from '../components/shortcuts.tsx'

/** What is written and chosen, but not sent. */
export interface UserDraft {
  text: string
  files: readonly File[]
}

export interface UserComposerProps {
  readonly client: ControlClient
  readonly chatId: string
  /** Whether the shown moment is now; the user cannot act earlier. */
  readonly isNow: boolean
  readonly draft: UserDraft
  readonly files: readonly File[]
  setFiles(files: readonly File[]): void
  toNow(): void
}

export function UserComposer({ client, chatId, isNow, draft, files, setFiles, toNow }: UserComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const problemId = useId()
  useFocusShortcut(field)
  const run = (action: Promise<unknown>, undo?: () => void) => {
    setProblem(null)
    action.catch((error: unknown) => {
      setProblem(messageOf(error))
      undo?.()
    })
  }
  const write = (text: string) => {
    draft.text = text
    setText(field.current, text)
  }
  const send = () => {
    const text = field.current?.value ?? ''
    if (text.trim() === '' && files.length === 0) return
    write('')
    setFiles([])
    run(sendMessage(client, chatId, text, files), () => {
      write(text)
      setFiles(files)
    })
  }
  const askForPerson = () => run(client.send('POST', `${pathOf(chatId)}/press`, { body: { button: 'handover' } }))
  return (
    <form class="user-composer" onSubmit={submit(send)}>
      {isNow ? null : <EarlierMoment toNow={toNow} />}
      {files.length === 0 ? null : (
        <ChosenFiles files={files} onRemove={file => setFiles(files.filter(one => one !== file))} />
      )}
      <fieldset disabled={!isNow}>
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          aria-label="Message of the user"
          aria-describedby={problem === null ? undefined : problemId}
          placeholder="Write as the user"
          defaultValue={draft.text}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(send)(event)
            // Outside of the field, the keys are shortcuts.
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
          onPaste={event => addFiles(event.clipboardData, files, setFiles) && event.preventDefault()}
        />
        <div class="user-acts">
          <FilePicker onChoose={chosen => setFiles([...files, ...chosen])} />
          <button type="button" onClick={askForPerson}>
            Ask for a person
          </button>
          <button type="submit" class="primary">
            Send
          </button>
        </div>
      </fieldset>
      <p id={problemId} class="composer-problem" role="alert">
        {problem}
      </p>
    </form>
  )
}

const pathOf = (chatId: string) => `/chats/${encodeURIComponent(chatId)}`

function sendMessage(client: ControlClient, chatId: string, text: string, files: readonly File[]): Promise<unknown> {
  const path = `${pathOf(chatId)}/messages`
  if (files.length === 0) return client.send('POST', path, { body: { text } })
  const form = new FormData()
  if (text !== '') form.set('text', text)
  for (const file of files) form.append('files', file)
  return client.send('POST', path, { body: form })
}

const submit = (send: () => void) => (event: Event) => {
  event.preventDefault()
  send()
}

function setText(field: HTMLTextAreaElement | null, text: string): void {
  if (field === null) return
  if (field.value !== text) field.value = text
  grow(field)
}

/** The field is as high as its text, up to the limit of the style sheet. */
function grow(field: HTMLTextAreaElement): void {
  field.style.blockSize = 'auto'
  field.style.blockSize = `${field.scrollHeight + 2}px`
}

/** Takes files from a drop or the clipboard; returns whether there were any. */
export function addFiles(
  data: DataTransfer | null,
  files: readonly File[],
  setFiles: (files: readonly File[]) => void,
): boolean {
  const added = [...(data?.files ?? [])]
  if (added.length > 0) setFiles([...files, ...added])
  return added.length > 0
}

function useFocusShortcut(field: { readonly current: HTMLTextAreaElement | null }): void {
  const [focus] = useState(() => () => field.current?.focus())
  useShortcut('m', 'End user', 'Write as the user', focus)
  useEffect(() => {
    if (field.current !== null) grow(field.current)
  }, [field])
}

function EarlierMoment({ toNow }: { toNow(): void }) {
  return (
    <p class="earlier-moment">
      This is an earlier moment. The user acts only now.
      <button type="button" class="link" onClick={toNow}>
        Go back to now
      </button>
    </p>
  )
}

function FilePicker({ onChoose }: { onChoose(files: readonly File[]): void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Attach files
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files of the user"
        onChange={({ currentTarget }) => {
          onChoose([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
    </>
  )
}
