/** Shows the messages of a chat: only the latest are drawn, and earlier ones when they are scrolled to. */
import './chat.css'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { dateText, dayOf } from '../model/chat-format.ts'
import type { ChatItem, ChatView } from '../model/chat-items.ts'
import { Avatar, ChatBubble, Line, type MessageContext } from './chat-message.tsx'

export interface ChatMessagesProps {
  readonly chat: ChatView
  readonly context: MessageContext
}

/** So many items are drawn, and so many more each time the beginning is reached. */
const WINDOW = 60
/** As many leave the window together, because all others move up when one leaves. */
const AT_ONCE = 30
/** So close to its end, the list follows new messages. */
const NEAR_END_PX = 60

export function ChatMessages({ chat, context }: ChatMessagesProps) {
  const { items, typing, agent } = chat
  const typist = agent?.name ?? 'The agent'
  const box = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState(WINDOW)
  const { isAtEnd, onScroll, toEnd } = useScrolling(box, items, typing, drawn, () => setDrawn(drawn + WINDOW))
  const missed = useMissed(items, isAtEnd)
  const first = Math.max(0, Math.floor((items.length - drawn) / AT_ONCE) * AT_ONCE)
  return (
    <div class="messages-frame">
      {/* biome-ignore lint/a11y/useSemanticElements: a scrolled region of a list */}
      <div
        ref={box}
        class="messages"
        role="region"
        aria-label="Chat"
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={moveFocus}
      >
        {first > 0 ? (
          <p class="earlier" dir="ltr">
            {first} earlier messages
          </p>
        ) : null}
        <ol aria-label="Messages" lang={chat.language || undefined}>
          {items.slice(first).map((item, index) => (
            <Item
              key={item.kind === 'message' ? item.id : `line ${item.seq}`}
              item={item}
              before={items[first + index - 1]}
              context={context}
            />
          ))}
        </ol>
        <p class="typing" role="status">
          {typing ? (
            <>
              <Avatar name={typist} picture={null} from="agent" />
              <span class="dots" aria-hidden="true">
                <i />
                <i />
                <i />
              </span>
              <span dir="ltr">
                <bdi>{typist}</bdi> is typing
              </span>
            </>
          ) : null}
        </p>
      </div>
      {missed === 0 ? null : (
        <button type="button" class="missed" onClick={toEnd}>
          <span dir="ltr">
            {missed} new {missed === 1 ? 'message' : 'messages'} ↓
          </span>
        </button>
      )}
      <p class="visually-hidden" aria-live="polite">
        {useAnnouncement(items)}
      </p>
    </div>
  )
}

interface ItemProps {
  readonly item: ChatItem
  readonly before: ChatItem | undefined
  readonly context: MessageContext
}

function Item({ item, before, context }: ItemProps) {
  const isNewDay = before === undefined || dayOf(before.time) !== dayOf(item.time)
  const isFirst =
    isNewDay ||
    item.kind === 'line' ||
    before.kind === 'line' ||
    before.notice !== undefined ||
    before.from !== item.from ||
    before.name !== item.name
  return (
    <>
      {isNewDay ? (
        <li class="date-line" lang="en">
          {dateText(item.time)}
        </li>
      ) : null}
      {item.kind === 'line' ? (
        <Line context={context} line={item} />
      ) : (
        <ChatBubble context={context} message={item} isFirst={isFirst} />
      )}
    </>
  )
}

/** Keeps the end in view when it was, and the place when earlier messages are added above it. */
function useScrolling(
  box: { readonly current: HTMLDivElement | null },
  items: readonly ChatItem[],
  typing: boolean,
  drawn: number,
  drawMore: () => void,
) {
  const [isAtEnd, setAtEnd] = useState(true)
  /** The latest place; the state is that of the latest rendering. */
  const place = useRef({ isAtEnd: true, fromEnd: 0 })
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight })
  useLayoutEffect(() => {
    if (place.current.isAtEnd) toEnd()
  }, [items, typing])
  useLayoutEffect(() => {
    if (box.current !== null && !place.current.isAtEnd)
      box.current.scrollTop = box.current.scrollHeight - place.current.fromEnd
  }, [drawn])
  // The box or its content gets another size, for instance because a picture was loaded.
  useEffect(() => {
    if (box.current === null) return
    const observer = new ResizeObserver(() => place.current.isAtEnd && toEnd())
    for (const element of [box.current, ...box.current.children]) observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  const onScroll = () => {
    if (box.current === null) return
    const { scrollHeight, scrollTop, clientHeight } = box.current
    const fromEnd = scrollHeight - scrollTop
    place.current = { isAtEnd: fromEnd - clientHeight < NEAR_END_PX, fromEnd }
    setAtEnd(place.current.isAtEnd)
    if (scrollTop < clientHeight && items.length > drawn) drawMore()
  }
  return { isAtEnd, onScroll, toEnd }
}

/** How many messages came below the visible ones. */
function useMissed(items: readonly ChatItem[], isAtEnd: boolean): number {
  const seen = useRef(items.length)
  if (isAtEnd || items.length < seen.current) seen.current = items.length
  return items.slice(seen.current).filter(item => item.kind === 'message').length
}

/** The newest message of bot or agent that came while the chat is shown. */
function useAnnouncement(items: readonly ChatItem[]): string {
  const before = useRef(items.length)
  const added = items.length > before.current && items.length - before.current < 10
  const last = items.at(-1)
  const [text, setText] = useState('')
  useEffect(() => {
    before.current = items.length
    if (added && last?.kind === 'message' && last.from !== 'user') setText(`${last.name}: ${last.text}`)
  }, [items, added, last])
  return text
}

/** The arrow keys go from message to message, and Enter selects the entry of one. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  if (event.key === 'Enter' && event.target instanceof HTMLLIElement)
    event.target.querySelector<HTMLElement>('button.message-time')?.click()
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
  const messages = [...event.currentTarget.querySelectorAll<HTMLElement>('li[tabindex]')]
  const at = messages.findIndex(message => message.contains(document.activeElement))
  const next = event.key === 'ArrowUp' ? (at === -1 ? messages.length : at) - 1 : at + 1
  if (at === -1 && event.key === 'ArrowDown') return
  messages[next]?.focus()
  event.preventDefault()
}
