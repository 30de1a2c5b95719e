/** Shows a long list by drawing only the rows on the screen. All rows have one height, so a position needs no measuring. */
import './controls.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualListProps {
  readonly label: string
  readonly count: number
  /** The height in pixels. */
  readonly rowHeight: number
  /** The index of the selected row; -1 without one. */
  readonly selected: number
  /** The index of a second row, which is compared with the selected one. */
  readonly second?: number
  /** `isSecond`: it was clicked with the shift key. */
  onSelect(index: number, isSecond: boolean): void
  /** Whether it stays at its end while no row is selected, as logs do; by default it does. */
  readonly isLog?: boolean
  /** Enter on the selected row. */
  onOpen?(): void
  row(index: number): ComponentChildren
}

/** Rows that are drawn above and below the visible ones. */
const MARGIN = 8
/** At its end, a list that follows draws all its rows again for most entries. */
const MARGIN_AT_END = 1
/** So close to its end, a list follows new rows. */
const NEAR_END_PX = 40

export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, selected, second = -1, isLog = true, onSelect, row } = props
  const box = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ top: 0, height: 600 })
  const follows = useRef(isLog)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => setPlace(old => ({ ...old, height: element.clientHeight })))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (follows.current && selected === -1 && box.current) box.current.scrollTop = count * rowHeight
  }, [count, rowHeight, selected, place.height])
  useEffect(() => reveal(box.current, selected, rowHeight), [selected, rowHeight, place.height])
  // Another one for each row, so that screen readers notice a change of the selection.
  const selectedId = `${useId()}-${selected}`
  const isAtEnd = follows.current && selected === -1
  const top = isAtEnd ? Math.max(0, count * rowHeight - place.height) : place.top
  const margin = isAtEnd ? MARGIN_AT_END : MARGIN
  const drawn = Math.min(count, Math.ceil(place.height / rowHeight) + 1 + 2 * margin)
  const first = Math.max(0, Math.min(count - drawn, Math.floor(top / rowHeight) - margin))
  const onScroll = ({ currentTarget }: { readonly currentTarget: HTMLDivElement }) => {
    const { scrollTop, clientHeight, scrollHeight } = currentTarget
    follows.current = isLog && scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    // The rows at the end are drawn already.
    if (!isAtEnd || !follows.current) setPlace({ top: scrollTop, height: clientHeight })
  }
  return (
    <div
      ref={box}
      class="virtual-list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={selected === -1 ? undefined : selectedId}
      onScroll={onScroll}
      onKeyDown={event => onKey(event, props, Math.floor(place.height / rowHeight))}
    >
      <div class="virtual-list-all" style={{ height: `${count * rowHeight}px` }}>
        <div class="virtual-list-drawn" style={{ top: `${first * rowHeight}px`, gridAutoRows: `${rowHeight}px` }}>
          {Array.from({ length: drawn }, (_, offset) => first + offset).map(index => (
            <div
              key={index}
              id={index === selected ? selectedId : undefined}
              class={index === second ? 'virtual-list-row second' : 'virtual-list-row'}
              role="option"
              tabIndex={-1}
              aria-selected={index === selected}
              aria-setsize={count}
              aria-posinset={index + 1}
              onMouseDown={event => {
                // The list has the focus, not the row: its element may disappear soon.
                event.preventDefault()
                box.current?.focus({ preventScroll: true })
                onSelect(index, event.shiftKey)
              }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

/** Scrolls only when the row is not visible. */
function reveal(element: HTMLElement | null, index: number, rowHeight: number): void {
  if (element === null || index < 0) return
  const top = index * rowHeight
  if (top < element.scrollTop) element.scrollTop = top
  else if (top + rowHeight > element.scrollTop + element.clientHeight)
    element.scrollTop = top + rowHeight - element.clientHeight
}

function onKey(event: KeyboardEvent, { selected, count, onSelect, onOpen }: VirtualListProps, page: number): void {
  if (count === 0 || event.ctrlKey || event.metaKey || event.altKey) return
  const from = selected === -1 ? count : selected
  const targets: Readonly<Record<string, number>> = {
    ...{ ArrowDown: from + 1, j: from + 1, ArrowUp: from - 1, k: from - 1 },
    ...{ PageDown: from + page, PageUp: from - page, Home: 0, End: count - 1 },
  }
  const target = targets[event.key]
  if (target !== undefined) onSelect(Math.max(0, Math.min(count - 1, target)), false)
  else if (event.key === 'Enter' && onOpen !== undefined && selected !== -1) onOpen()
  else return
  event.preventDefault()
}
