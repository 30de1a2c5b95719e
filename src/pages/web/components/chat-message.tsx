/** Draws one message of a chat, or a line between messages. */
import './chat.css'
import { useState } from 'preact/hooks'
import { type ButtonForm, readButton } from '../../../platform/contract/buttons.ts'
import type { Button } from '../../../platform/contract/schemas.ts'
import type { ControlClient } from '../client/control.ts'
import { hueOf, initialsOf, pictureAt, safeLink, timeText } from '../model/chat-format.ts'
import type { ChatLine, ChatMessage, Trouble } from '../model/chat-items.ts'
import { ChatFile, LostFile } from './chat-file.tsx'
import { Mark } from './mark.tsx'

/** What a message needs from its chat. */
export interface MessageContext {
  readonly origin: URL
  /** Loads files; null where the server does not have them. */
  readonly client: ControlClient | null
  /** Whether the shown moment is now, so that buttons work. */
  readonly isNow: boolean
  /** Which fields of a button count. */
  readonly buttonForm: ButtonForm
  /** The selected entry. */
  readonly selected: number | null
  select(seq: number): void
  press(label: string): void
}

const SENDERS = { user: 'User', bot: 'Bot', agent: 'Agent' } as const

export interface MessageProps {
  readonly context: MessageContext
  readonly message: ChatMessage
  /** Whether another sender wrote the message before. */
  readonly isFirst: boolean
}

export function ChatBubble({ context, message, isFirst }: MessageProps) {
  const { from, name, attachments, buttons, seq, notice } = message
  // A message of the bot about the handover, in the words of the platform.
  if (notice !== undefined) {
    const [title, shown] = [NOTICES[notice], message.text || NOTICES[notice]]
    const props = { context, seq, time: message.time, kind: `notice ${notice}`, title, text: shown }
    return <Aside {...props} lang={message.text === '' ? 'en' : undefined} />
  }
  const shown = name || SENDERS[from]
  return (
    <li
      class={`message ${from}${isFirst ? ' first' : ''}`}
      tabIndex={-1}
      aria-current={seq !== null && seq === context.selected ? 'true' : undefined}
    >
      {from === 'user' ? null : <Avatar name={shown} picture={pictureAt(message.avatar, context.origin)} from={from} />}
      <span class={isFirst && from !== 'user' ? 'sender' : 'sender visually-hidden'} dir="auto">
        {shown}
      </span>
      <MessageText message={message} />
      {attachments.map(file =>
        context.client === null ? (
          <LostFile key={file.url} file={file} />
        ) : (
          <ChatFile key={file.url} file={file} client={context.client} />
        ),
      )}
      {buttons.length === 0 ? null : (
        <div class="choices">
          {buttons.map((button, index) => (
            <Choice key={index} button={button} context={context} />
          ))}
        </div>
      )}
      <TroubleLink context={context} trouble={message.trouble} />
      <MessageTime context={context} seq={seq} time={message.time} />
    </li>
  )
}

interface TroubleProps {
  readonly context: MessageContext
  readonly trouble: Trouble | undefined
}

function TroubleLink({ context, trouble }: TroubleProps) {
  if (trouble === undefined) return null
  const { text, seq, isOrdered } = trouble
  return (
    <button
      type="button"
      class={`link trouble${isOrdered ? ' ordered' : ''}`}
      lang="en"
      onClick={() => context.select(seq)}
    >
      <Mark kind={isOrdered ? 'fault' : 'fail'} label="" /> {text}
    </button>
  )
}

function MessageText({ message: { from, text, original, isCut } }: { readonly message: ChatMessage }) {
  if (text === '' && original === undefined && isCut === undefined) return null
  const isLost = isCut && text === ''
  return (
    <div class="message-text">
      <p dir={isLost ? 'ltr' : 'auto'} lang={isLost ? 'en' : undefined}>
        {isLost ? 'This text is too long for the journal.' : text}
      </p>
      {original === undefined ? null : (
        <p class="original">
          <span class="original-label" lang="en">
            {from === 'user' ? 'The agent reads' : 'The agent wrote'}
          </span>
          <span dir="auto">{original}</span>
        </p>
      )}
    </div>
  )
}

interface AvatarProps {
  readonly name: string
  readonly picture: string | null
  readonly from: ChatMessage['from']
}

/** A picture, or initials when there is none that may be loaded. */
export function Avatar({ name, picture, from }: AvatarProps) {
  const [broken, setBroken] = useState<string | null>(null)
  const hasPicture = picture !== null && picture !== broken
  return (
    <span class={`avatar ${from} ${hueOf(name)}`} aria-hidden="true">
      {hasPicture ? <img src={picture} alt="" onError={() => setBroken(picture)} /> : initialsOf(name)}
    </span>
  )
}

const NOTICES = {
  opened: 'The request was accepted.',
  closed: 'The request was refused: closed.',
  joined: 'The agent joined.',
  left: 'The agent left.',
}

interface AsideProps {
  readonly context: MessageContext
  /** `notice closed`, `line pressed`. */
  readonly kind: string
  readonly seq: number | null
  readonly time: string
  readonly title?: string
  readonly text: string
  /** The language of a text that the page wrote. */
  readonly lang?: string | undefined
  readonly trouble?: Trouble | undefined
}

/** A line between messages. */
function Aside({ context, kind, seq, time, title, text, lang, trouble }: AsideProps) {
  return (
    <li class={kind} tabIndex={-1} aria-current={seq !== null && seq === context.selected ? 'true' : undefined}>
      <p dir="auto" lang={lang} title={title}>
        {text}
      </p>
      <TroubleLink context={context} trouble={trouble} />
      <MessageTime context={context} seq={seq} time={time} />
    </li>
  )
}

function Choice({ button, context }: { readonly button: Button; readonly context: MessageContext }) {
  const { kind, label, value, isActive } = readButton(button, context.buttonForm)
  const press = () => context.press(label)
  const opens = kind === 'link' || kind === 'phone' || kind === 'email'
  const link = opens ? safeLink(value) : null
  const isPressable = context.isNow && isActive && label !== ''
  if (link !== null && isPressable)
    return (
      <a class="choice" href={link.href} target="_blank" rel="noopener noreferrer" onClick={press}>
        <span dir="auto">{label}</span> <small dir="ltr">{link.target} ↗</small>
      </a>
    )
  // What a quick reply writes is worth a word where it differs from the label.
  const written = kind === 'quick_reply' && value !== label ? `writes “${value}”` : null
  const detail = opens ? (link?.target ?? `not opened: ${value}`) : written
  return (
    <button type="button" class="choice" disabled={!isPressable} onClick={press}>
      <span dir="auto">{label || 'Button without a label'}</span>
      {detail === null ? null : <small dir="auto"> {detail}</small>}
      {isActive ? null : <small dir="ltr"> not active</small>}
    </button>
  )
}

export function Line({ context, line }: { readonly context: MessageContext; readonly line: ChatLine }) {
  const { line: code, detail, seq, time, trouble } = line
  const texts = {
    pressed: `Pressed “${detail}”`,
    link_opened: `Opened ${detail}`,
    ended: 'The chat ended, because nobody wrote',
    closed: 'The user closed the chat',
    deleted: 'The user deleted the chat',
    lost: `Not sent, because the chat is closed: “${detail}”`,
    refused: `Not shown to the user: “${detail}”`,
  }
  const props = { context, seq, time, trouble, kind: `line ${code}`, text: texts[code] }
  return <Aside {...props} lang="en" />
}

interface TimeProps {
  readonly context: MessageContext
  readonly seq: number | null
  readonly time: string
}

/** Appears when the pointer or the focus is on the message, and selects its entry. */
function MessageTime({ context, seq, time }: TimeProps) {
  if (seq === null)
    return (
      <time class="message-time" dateTime={time}>
        {timeText(time)}
      </time>
    )
  return (
    <button type="button" class="message-time" tabIndex={-1} title={time} onClick={() => context.select(seq)}>
      <time dateTime={time}>{timeText(time)}</time> <span>#{seq}</span>
      <span class="visually-hidden"> Show the entry</span>
    </button>
  )
}
