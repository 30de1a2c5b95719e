/** A modal dialog. The browser keeps the focus in it, closes it with Escape, and gives the focus back. */
import './controls.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

export interface DialogProps {
  readonly title: string
  onClose(): void
  readonly children: ComponentChildren
  /** Takes the width of the screen, for content with columns. */
  readonly isWide?: boolean
}

export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={element} class={isWide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onClose={onClose}>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => element.current?.close()}>
          ✕
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
