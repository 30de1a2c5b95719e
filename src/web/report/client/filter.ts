/** Filters the scenarios by outcome and by words in name, place and failures. */

import { onClick, query, showStatus } from './dom.ts'

const texts = new WeakMap<Element, string>()
let outcome = 'all'

export function startFilter(): void {
  const form = query('.filter')
  form.addEventListener('submit', event => event.preventDefault())
  form.addEventListener('input', () => showFiltered(outcome, searched()))
  onClick('[data-outcome]', ({ dataset }) => showFiltered(dataset.outcome ?? 'all', searched()), form)
  query('[data-filter-reset]').addEventListener('click', () => showFiltered('all', ''))
}

const field = () => query<HTMLInputElement>('.filter input')
const searched = () => field().value

export function showFiltered(wanted: string, text: string): void {
  outcome = wanted
  if (field().value !== text) field().value = text
  for (const chip of document.querySelectorAll<HTMLElement>('.filter [data-outcome]'))
    chip.ariaPressed = String(chip.dataset.outcome === wanted)
  const scenarios = [...document.querySelectorAll<HTMLElement>('.scenario')]
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  for (const scenario of scenarios) scenario.hidden = !fits(scenario, words)
  say(scenarios)
}

function fits(scenario: HTMLElement, words: readonly string[]): boolean {
  return (
    (outcome === 'all' || scenario.dataset.outcome === outcome) && words.every(word => textOf(scenario).includes(word))
  )
}

/** The searched text of a scenario; without its timeline. */
function textOf(scenario: Element): string {
  const known = texts.get(scenario)
  if (known !== undefined) return known
  const parts = scenario.querySelectorAll(
    'summary .name, summary .first, .scenario-body > .facts, .failure dl, .own-warnings',
  )
  const text = [...parts]
    .map(part => part.textContent)
    .join(' ')
    .toLowerCase()
  texts.set(scenario, text)
  return text
}

function say(scenarios: readonly HTMLElement[]): void {
  const shown = scenarios.filter(({ hidden }) => !hidden).length
  query('.nothing').hidden = shown > 0
  showStatus(`${shown} of ${scenarios.length} scenarios shown`)
}
