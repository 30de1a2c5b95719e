/** Handles keys by focus: in a timeline, in the side panel, on a scenario. */

import { onClick, query } from './dom.ts'
import { closePanel, focusPanel, isPanelOpen, showNext, showRow } from './panel.ts'
import { failureFrom, makeCurrent, moveFrom, summaryFrom } from './timelines.ts'

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }
const JUMPS: Readonly<Record<string, number>> = { PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }

export function startKeys(): void {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (handled(event)) event.preventDefault()
  })
  onClick('[data-next-failure]', button => {
    const row = button.closest('.diagram-host')?.querySelector<HTMLElement>('.row[tabindex="0"]')
    const next = row && failureFrom(row, 1)
    if (next) goTo(next)
  })
}

function handled(event: KeyboardEvent): boolean {
  const { target } = event
  if (!(target instanceof HTMLElement)) return false
  if (event.key === 'Escape' && isPanelOpen()) return done(closePanel())
  if (target.matches('input, select, textarea')) return false
  if (event.key === '/') return done(query('.filter input').focus())
  if (target.matches('.row')) return inTimeline(target, event.key)
  if (target.matches('.scenario > summary')) return onScenario(target, event.key)
  return target.closest('#panel') !== null && inPanel(event.key)
}

const done = (_: unknown) => true

function inTimeline(row: HTMLElement, key: string): boolean {
  if (key === 'Enter' || key === ' ') {
    showRow(row)
    return done(focusPanel())
  }
  const by = STEPS[key] ?? JUMPS[key]
  const next = by === undefined ? toFailure(row, key) : moveFrom(row, by)
  return next !== undefined && done(goTo(next))
}

const toFailure = (row: HTMLElement, key: string) =>
  key === 'f' ? failureFrom(row, 1) : key === 'F' ? failureFrom(row, -1) : undefined

/** Moves the focus, and the side panel when it is open. */
export function goTo(row: HTMLElement): void {
  makeCurrent(row)
  if (isPanelOpen()) showRow(row)
  row.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}

function onScenario(summary: HTMLElement, key: string): boolean {
  const by = STEPS[key]
  return by !== undefined && done(summaryFrom(summary, by).focus())
}

/** Handles `j` and `k` only, because arrow keys scroll the panel. */
const inPanel = (key: string) => (key === 'j' || key === 'k') && done(showNext(key === 'j' ? 1 : -1))
