/** Starts the script of a report: opened results, links, the filter, keys, and what is printed. */
import '../style/tokens.css'
import '../style/base.css'
import '../components/coverage-map.css'
import '../components/failures.css'
import './report.css'
import './certificate.css'
import { hydrate, render } from 'preact'
import { type FilterState, type OutcomeChip, ResultFilter } from './result-filter.tsx'
import { parseLink } from './scenario-links.ts'
import { createTimelines } from './timelines.tsx'

/** A scenario, or a check that did not pass. */
const results = [...document.querySelectorAll<HTMLDetailsElement>('.result')]
/** The same scenarios, or the rows of all checks. */
const filtered = [...document.querySelectorAll<HTMLElement>('[data-outcome]')]
/** What has a heading that is only shown above something. */
const groups = [...document.querySelectorAll<HTMLElement>('[data-group]')]
const filterPlace = document.getElementById('filter-place')
const chips: readonly OutcomeChip[] = JSON.parse(filterPlace?.dataset.chips ?? '[]')
/** `scenario` or `check`. */
const noun = filterPlace?.dataset.noun ?? ''
const timelines = createTimelines()
const ALL: FilterState = { outcome: 'all', text: '' }

function start(): void {
  const props = { chips, noun, onChange: filter }
  if (filterPlace !== null) hydrate(<ResultFilter {...props} {...ALL} isEmpty={false} />, filterPlace)
  for (const result of results) {
    result.addEventListener('toggle', () => result.open && timelines.open(result))
    if (result.open) timelines.open(result)
  }
  document.addEventListener('keydown', onKeyDown)
  document.addEventListener('click', onClick)
  addEventListener('hashchange', followHash)
  addEventListener('beforeprint', openFailures)
  followHash()
}

function openFailures(): void {
  for (const result of results) if (result.matches('.fail, .error, .warn')) timelines.open(result)
}

/** Hides what does not fit, and draws the filter with its new state. */
function filter(state: FilterState): void {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean)
  for (const element of filtered) {
    const text = words.length === 0 ? '' : searchedText(element)
    const hasOutcome = state.outcome === 'all' || element.dataset.outcome === state.outcome
    element.hidden = !hasOutcome || !words.every(word => text.includes(word))
  }
  for (const group of groups) group.hidden = group.querySelector('[data-outcome]:not([hidden])') === null
  const shown = filtered.filter(({ hidden }) => !hidden).length
  const props = { chips, noun, onChange: filter }
  if (filterPlace !== null) render(<ResultFilter {...props} {...state} isEmpty={shown === 0} />, filterPlace)
  const status = document.getElementById('status')
  if (status !== null) status.textContent = `${shown} of ${filtered.length} ${noun}s shown`
}

const SEARCHED = [
  ...['.result-name', '.result-first', '.result-body > .report-facts'],
  ...['.result-reason', '.failure-facts', '.report-notice', '.warning-list'],
].join(', ')

/** The searched text of a row, or of a scenario without its steps and its timeline. */
function searchedText(element: Element): string {
  const parts = element.matches('.result') ? [...element.querySelectorAll(SEARCHED)] : [element]
  const texts = parts.map(part => part.textContent)
  return texts.join(' ').toLowerCase()
}

function followHash(): void {
  const { slug, seq } = parseLink(location.hash)
  const result = results.find(({ id }) => id === slug)
  if (result === undefined) return
  if (result.hidden) filter(ALL)
  timelines.open(result)
  if (seq === null || !timelines.goToEntry(result, seq)) result.scrollIntoView()
}

/** A browser fires no `hashchange` when the address stays the same. */
function onClick({ target }: MouseEvent): void {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null
  if (link !== null && link.hash === location.hash) followHash()
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
  if (isHandled(event)) event.preventDefault()
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/** Runs the key, and says whether it did something. Rows of a timeline handle their own keys. */
function isHandled({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (key === 'Escape' && timelines.isPanelOpen()) timelines.closePanel()
  else if (target.matches('input, select, textarea')) return false
  else if (key === '/') filterPlace?.querySelector('input')?.focus()
  else if (target.matches('.result > summary') && STEPS[key] !== undefined) {
    const by = STEPS[key]
    const shown = results.filter(({ hidden }) => !hidden).map(result => result.querySelector<HTMLElement>('summary'))
    const at = shown.indexOf(target) + by
    shown[Math.max(0, Math.min(shown.length - 1, at))]?.focus()
  }
  // Arrow keys scroll the panel.
  else if (target.closest('.side-panel') !== null && (key === 'j' || key === 'k'))
    timelines.moveShown(key === 'j' ? 1 : -1)
  else return false
  return true
}

start()
