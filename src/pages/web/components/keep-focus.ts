/** Keeps the keyboard focus in the page: when its element disappears or is disabled, a control near it gets the focus. */
import { type Timer, wallTimer } from '../../../base/runtime/clock.ts'

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])'
const CHANGES = { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden', 'open'] }
/** A form that is being saved enables its button again within this time. */
const PENDING_MS = 400

/** What had the focus last. */
interface Place {
  readonly element: Element
  /** From the nearest to the whole page: an element that was removed does not have them any more. */
  readonly ancestors: readonly Element[]
}

/** Returns a function that ends it. */
export function keepFocus(): () => void {
  let place: Place | null = null
  let timer: Timer | null = null
  const stopTimer = () => {
    timer?.cancel()
    timer = null
  }
  const remember = ({ target }: FocusEvent) => {
    stopTimer()
    place = target instanceof Element ? { element: target, ancestors: ancestorsOf(target) } : null
  }
  // A control that still works was left on purpose.
  const forget = () =>
    queueMicrotask(() => {
      if (place !== null && place.element !== document.activeElement && isUsable(place.element)) place = null
    })
  const isLost = () => {
    const active = document.activeElement
    return place !== null && (active === document.body || active === place.element)
  }
  const move = () => {
    timer = null
    if (place !== null && isLost() && !isUsable(place.element)) focusNear(place)
  }
  // Later, because the browser may be about to move the focus itself, as after a dialog.
  const restore = () => {
    if (place === null || !isLost()) return stopTimer()
    if (!isUsable(place.element)) timer ??= wallTimer(isShown(place.element) ? PENDING_MS : 0, move)
    else if (timer !== null) {
      stopTimer()
      focus(place.element)
    }
  }
  const observer = new MutationObserver(restore)
  observer.observe(document.body, CHANGES)
  document.addEventListener('focusin', remember)
  document.addEventListener('focusout', forget)
  return () => {
    stopTimer()
    observer.disconnect()
    document.removeEventListener('focusin', remember)
    document.removeEventListener('focusout', forget)
  }
}

function ancestorsOf(element: Element): readonly Element[] {
  const found: Element[] = []
  for (let one = element.parentElement; one !== null; one = one.parentElement) found.push(one)
  return found
}

const isShown = (element: Element): boolean => element.isConnected && element.checkVisibility()

const isUsable = (element: Element): boolean => isShown(element) && !element.matches(':disabled')

function focusNear({ ancestors }: Place): void {
  for (const ancestor of ancestors) {
    if (!ancestor.isConnected) continue
    const control = [ancestor, ...ancestor.querySelectorAll(CONTROLS)].find(
      one => one.matches(CONTROLS) && isUsable(one),
    )
    if (control !== undefined) return focus(control)
  }
}

function focus(element: Element): void {
  if (element instanceof HTMLElement && element !== document.activeElement) element.focus({ preventScroll: true })
}
