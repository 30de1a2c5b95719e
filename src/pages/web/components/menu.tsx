/** A button that opens a list of actions; choosing one, or leaving it, closes it. */
import './controls.css'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

export interface MenuProps {
  readonly title: string
  /** Buttons. */
  readonly children: ComponentChildren
}

export function Menu({ title, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => menu.current?.removeAttribute('open')
  const onFocusOut = ({ relatedTarget }: FocusEvent) =>
    relatedTarget instanceof Node && menu.current?.contains(relatedTarget) ? undefined : close()
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return
    event.stopPropagation()
    menu.current.querySelector('summary')?.focus()
    close()
  }
  // Before the action: a dialog gives the focus back to what had it.
  const onClickCapture = ({ target }: Event) => {
    if (!(target instanceof Element) || target.closest('button') === null) return
    menu.current?.querySelector('summary')?.focus()
    close()
  }
  return (
    <details ref={menu} class="menu" onFocusOut={onFocusOut} onKeyDown={onKeyDown} onClickCapture={onClickCapture}>
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  )
}
