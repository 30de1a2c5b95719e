/** Keeps the keyboard focus in the page: when its element disappears or stays disabled, a control near it gets the focus. */
import { type Timer, wallTimer } from '../../../base/runtime/clock.ts'

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])'
const CHANGES = { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden', 'open'] }
/** A form that is being saved enables its button again within this time; a dialog moves the focus itself. */
const PENDING_MS = 400

/** Returns a function that ends it. */
export function keepFocus(): () => void {
  /** The element that had the focus last, and its ancestors: an element that was removed does not have them any more. */
  let places: readonly Element[] = []
  let timer: Timer | null = null

  const remember = ({ target }: FocusEvent) => {
    const found: Element[] = []
    for (let one = target instanceof Element ? target : null; one !== null; one = one.parentElement) found.push(one)
    places = found
  }
  // A control that still works was left on purpose.
  const forget = () =>
    queueMicrotask(() => {
      if (places[0] !== undefined && places[0] !== document.activeElement && isUsable(places[0])) places = []
    })
  const restore = () => {
    timer = null
    const active = document.activeElement
    if (active !== document.body && active !== places[0]) return
    for (const place of places) {
      if (!place.isConnected) continue
      for (const control of [place, ...place.querySelectorAll(CONTROLS)]) {
        if (!(control instanceof HTMLElement) || !control.matches(CONTROLS) || !isUsable(control)) continue
        if (control !== active) control.focus({ preventScroll: true })
        return
      }
    }
  }
  const observer = new MutationObserver(() => {
    if (places[0] !== undefined && !isUsable(places[0])) timer ??= wallTimer(PENDING_MS, restore)
  })
  observer.observe(document.body, CHANGES)
  document.addEventListener('focusin', remember)
  document.addEventListener('focusout', forget)
  return () => {
    timer?.cancel()
    observer.disconnect()
    document.removeEventListener('focusin', remember)
    document.removeEventListener('focusout', forget)
  }
}

const isUsable = (element: Element): boolean =>
  element.isConnected && element.checkVisibility() && !element.matches(':disabled')
