/** Starts the script of a report: opened scenarios, links, the filter, keys, and what is printed. */
import '../style/tokens.css'
import '../style/base.css'
import '../components/differences.css'
import '../components/failure-cards.css'
import '../components/steps.css'
import './report.css'
import './scenarios.css'
import { hydrate, render } from 'preact'
import { type FilterState, NothingFits, type OutcomeChip, ScenarioFilter } from './scenario-filter.tsx'
import { parseLink } from './scenario-links.ts'
import { closePanel, goToEntry, isPanelOpen, moveShown, openScenario } from './timelines.tsx'

const scenarios = [...document.querySelectorAll<HTMLDetailsElement>('.scenario')]
const filterPlace = document.getElementById('filter-place')
const nothingPlace = document.getElementById('nothing-place')
const chips: readonly OutcomeChip[] = JSON.parse(filterPlace?.dataset.chips ?? '[]')
/** The searched texts of scenarios. */
const texts = new Map<Element, string>()
const ALL: FilterState = { outcome: 'all', text: '' }

function start(): void {
  if (filterPlace !== null) hydrate(<ScenarioFilter chips={chips} {...ALL} onChange={filter} />, filterPlace)
  if (nothingPlace !== null) hydrate(<NothingFits isShown={false} onReset={() => filter(ALL)} />, nothingPlace)
  for (const scenario of scenarios) {
    scenario.addEventListener('toggle', () => scenario.open && openScenario(scenario))
    if (scenario.open) openScenario(scenario)
  }
  document.addEventListener('keydown', onKeyDown)
  document.addEventListener('click', onClick)
  addEventListener('hashchange', followHash)
  addEventListener('beforeprint', openFailures)
  followHash()
}

function openFailures(): void {
  for (const scenario of scenarios) if (scenario.matches('.fail, .error')) openScenario(scenario)
}

/** Hides the scenarios that do not fit, and draws the filter with its new state. */
function filter(state: FilterState): void {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean)
  for (const scenario of scenarios) scenario.hidden = !fits(scenario, state.outcome, words)
  const shown = scenarios.filter(({ hidden }) => !hidden).length
  if (filterPlace !== null) render(<ScenarioFilter chips={chips} {...state} onChange={filter} />, filterPlace)
  if (nothingPlace !== null) render(<NothingFits isShown={shown === 0} onReset={() => filter(ALL)} />, nothingPlace)
  const status = document.getElementById('status')
  if (status !== null) status.textContent = `${shown} of ${scenarios.length} scenarios shown`
}

const fits = (scenario: HTMLElement, outcome: FilterState['outcome'], words: readonly string[]): boolean =>
  (outcome === 'all' || scenario.dataset.outcome === outcome) && words.every(word => textOf(scenario).includes(word))

const SEARCHED = [
  ...['.scenario-name', '.scenario-first', '.scenario-body > .report-facts'],
  ...['.scenario-reason', '.failure-facts', '.scenario-warnings'],
].join(', ')

/** The searched text of a scenario: without its steps and its timeline. */
function textOf(scenario: Element): string {
  const known = texts.get(scenario)
  if (known !== undefined) return known
  const parts = [...scenario.querySelectorAll(SEARCHED)].map(part => part.textContent)
  const text = parts.join(' ').toLowerCase()
  texts.set(scenario, text)
  return text
}

function followHash(): void {
  const { slug, seq } = parseLink(location.hash)
  const scenario = scenarios.find(({ id }) => id === slug)
  if (scenario === undefined) return
  if (scenario.hidden) filter(ALL)
  openScenario(scenario)
  if (seq === null || !goToEntry(scenario, seq)) scenario.scrollIntoView()
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
  if (key === 'Escape' && isPanelOpen()) closePanel()
  else if (target.matches('input, select, textarea')) return false
  else if (key === '/') filterPlace?.querySelector('input')?.focus()
  else if (target.matches('.scenario > summary') && STEPS[key] !== undefined) focusSummary(target, STEPS[key])
  // Arrow keys scroll the panel.
  else if (target.closest('.side-panel') !== null && (key === 'j' || key === 'k')) moveShown(key === 'j' ? 1 : -1)
  else return false
  return true
}

function focusSummary(summary: HTMLElement, by: number): void {
  const shown = scenarios
    .filter(({ hidden }) => !hidden)
    .map(scenario => scenario.querySelector<HTMLElement>('summary'))
  const at = shown.indexOf(summary) + by
  shown[Math.max(0, Math.min(shown.length - 1, at))]?.focus()
}

start()
