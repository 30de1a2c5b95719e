/** A modal dialog. The browser keeps the focus in it, closes it with Escape, and gives the focus back. */
import './controls.css'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

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
  // Opens before it is painted, so that a key that comes at once goes to the dialog.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  // The event `close` comes a task after the dialog has closed, when the same key may have opened it again.
  const onCancel = (event: Event) => {
    if (event.target !== element.current) return
    event.preventDefault()
    onClose()
  }
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={onCancel}
      onClose={() => element.current !== null && onClose()}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
