/** Keyboard shortcuts: components register them, one listener runs them, and a dialog lists them. */
import './controls.css'
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { type Timer, wallTimer } from '../../../base/runtime/clock.ts'
import { Dialog } from './dialog.tsx'

export interface Shortcut {
  /** As `KeyboardEvent.key` has it: `n`, `?`, `ArrowLeft`. */
  readonly key: string
  /** What it does, as a command: `Start a new chat`. */
  readonly text: string
  /** The heading under which it is listed. */
  readonly group: string
  /** Whether it changes something, and not only what the page shows. */
  readonly isAction: boolean
  run(): void
}

const registered = signal<readonly Shortcut[]>([])
const isListed = signal(false)

/** What each key does, as a command, and the function that does it; `action` for one that changes something. */
export type ShortcutTable = Readonly<Record<string, readonly [text: string, run: () => void, kind?: 'action']>>

const ACTIONS_OFF = 'handover-sim: shortcuts without actions'

/** False where the browser stores nothing. */
function readActionsOff(): boolean {
  try {
    return localStorage.getItem(ACTIONS_OFF) !== null
  } catch {
    return false
  }
}
const areActionsOff = signal(readActionsOff())

function switchActions({ currentTarget: { checked } }: { readonly currentTarget: HTMLInputElement }): void {
  areActionsOff.value = !checked
  try {
    if (checked) localStorage.removeItem(ACTIONS_OFF)
    else localStorage.setItem(ACTIONS_OFF, 'off')
  } catch {
    // It holds until the page is closed.
  }
}

/** A field gets the focus within this time. */
const PAUSE_MS = 2_000
const isPaused = signal(false)

/** Lets no shortcut act until a field has the focus, because the keys are meant for it. Returns a function that ends it. */
export function pauseShortcuts(): () => void {
  isPaused.value = true
  const end = () => {
    isPaused.value = false
    timer.cancel()
    document.removeEventListener('focusin', focused)
  }
  const focused = ({ target }: FocusEvent) => {
    if (isTyping(target)) end()
  }
  const timer = wallTimer(PAUSE_MS, end)
  document.addEventListener('focusin', focused)
  return end
}

/** The shortcuts work while the component is shown. A later one with the same key wins. */
export function useShortcuts(group: string, table: ShortcutTable): void {
  const latest = useRef(table)
  latest.current = table
  // Registers the keys before the component is painted, so that they work as soon as it is visible.
  useLayoutEffect(() => {
    const added: Shortcut[] = []
    for (const [key, [text, , kind]] of Object.entries(latest.current))
      added.push({ key, group, text, isAction: kind === 'action', run: () => latest.current[key]?.[1]() })
    registered.value = [...registered.peek(), ...added]
    return () => {
      registered.value = registered.peek().filter(shortcut => !added.includes(shortcut))
    }
  }, [group])
}

export const showShortcuts = (): void => {
  isListed.value = true
}

/** Shortcuts do nothing in a field, in a dialog, with a modifier or an arrow that the browser uses. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (/^Arrow(Left|Right)$/.test(event.key) && takesSideways(event.target)) return
  if (document.querySelector('dialog[open]') !== null) return
  const shortcut = registered.peek().findLast(({ key }) => key === event.key)
  if (shortcut === undefined || isPaused.peek() || (shortcut.isAction && areActionsOff.peek())) return
  event.preventDefault()
  shortcut.run()
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** A player seeks with the left and right arrow, and an element that is wider than its box scrolls with them. */
const takesSideways = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  (target.closest('audio, video') !== null ||
    (target.scrollWidth > target.clientWidth && /^(auto|scroll)$/.test(getComputedStyle(target).overflowX)))

/** Listens for the keys, shows the list of them, and keeps the focus in the page. */
export function Shortcuts() {
  useEffect(keepFocus, [])
  useLayoutEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  useShortcuts('Page', { '?': ['Show the keyboard shortcuts', showShortcuts] })
  if (!isListed.value) return null
  const groups = Map.groupBy(registered.value, ({ group }) => group)
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (isListed.value = false)}>
      <label class="switch">
        <input type="checkbox" checked={!areActionsOff.value} onChange={switchActions} />
        Single keys may also act, as those marked with * do
      </label>
      <div class="shortcut-groups">
        {[...groups].map(([group, shortcuts]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl class="shortcuts pairs">
              {[...new Map(shortcuts.map(item => [item.key, item])).values()].map(({ key, text, isAction }) => (
                <div key={key}>
                  <dt>
                    <kbd>{KEY_NAMES[key] ?? key}</kbd>
                  </dt>
                  <dd>
                    {text}
                    {isAction ? ' *' : ''}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  ' ': 'Space',
}

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])'
const CHANGES = { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden', 'open'] }
/** A form that is being saved enables its button again within this time; a dialog moves the focus itself. */
const PENDING_MS = 400

/**
 * Keeps the keyboard focus in the page: when its element disappears or stays disabled, a control near it gets the focus.
 * Returns a function that ends it.
 */
function keepFocus(): () => void {
  /** The element that had the focus last, and its ancestors: an element that was removed does not have them any more. */
  let places: readonly Element[] = []
  let timer: Timer | null = null

  const remember = ({ target }: FocusEvent) => {
    const ancestors: Element[] = []
    for (let element = target instanceof Element ? target : null; element !== null; element = element.parentElement)
      ancestors.push(element)
    places = ancestors
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
