/** Starts the script of the report page: links, copy buttons, and the filter by outcome and words. */
import { onClick, query, showStatus } from './dom.ts'
import { goTo, openScenario, rowWith, scenarioOf, showRow, startDiagrams, startKeys, startPanel } from './timelines.ts'

/** The searched texts of scenarios. */
const texts = new WeakMap<Element, string>()
let outcome = 'all'

startDiagrams()
startPanel()
startFilter()
startKeys()
startLinks()
onClick('[data-copy]', copy)
addEventListener('beforeprint', () => {
  for (const scenario of document.querySelectorAll<HTMLDetailsElement>('.scenario.fail, .scenario.error'))
    openScenario(scenario)
})
followHash()

async function copy(button: HTMLElement): Promise<void> {
  const done = await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
    () => true,
    () => copySelected(button),
  )
  button.textContent = done ? 'Copied' : 'Press Ctrl+C'
  showStatus(done ? 'Copied' : 'Selected, press Ctrl+C to copy')
  for (const event of ['blur', 'pointerleave'])
    button.addEventListener(event, () => (button.textContent = 'Copy'), { once: true })
}

/** Selects the text, for browsers that refuse access to the clipboard. */
function copySelected(button: HTMLElement): boolean {
  if (button.previousElementSibling !== null) getSelection()?.selectAllChildren(button.previousElementSibling)
  return document.execCommand('copy')
}

function startLinks(): void {
  addEventListener('hashchange', followHash)
  onClick<HTMLAnchorElement>('a[href^="#"]', link => {
    // A browser fires no hashchange when the address stays the same.
    if (link.hash === location.hash) followHash()
  })
}

function followHash(): void {
  const [slug, seq] = parsed(location.hash)
  const scenario = document.getElementById(slug)
  if (!(scenario instanceof HTMLDetailsElement)) return
  if (scenario.hidden) showFiltered('all', '')
  openScenario(scenario)
  const row = seq === null ? null : rowWith(scenario, seq)
  if (row === null) return scenario.scrollIntoView()
  if (row.hidden) showEveryConversation(row)
  showRow(row)
  goTo(row)
  row.scrollIntoView({ block: 'center' })
}

function showEveryConversation(row: HTMLElement): void {
  const select = query<HTMLSelectElement>('select[name="chat"]', scenarioOf(row))
  select.selectedIndex = 0
  select.dispatchEvent(new Event('change', { bubbles: true }))
}

function parsed(hash: string): [slug: string, seq: number | null] {
  const [, slug = '', seq] = /^#(.*?)(?:\/(\d+))?$/.exec(hash) ?? []
  try {
    return [decodeURIComponent(slug), seq === undefined ? null : Number(seq)]
  } catch {
    return [slug, null]
  }
}

function startFilter(): void {
  const form = query('.filter')
  form.addEventListener('submit', event => event.preventDefault())
  form.addEventListener('input', () => showFiltered(outcome, searched()))
  onClick('[data-outcome]', ({ dataset }) => showFiltered(dataset.outcome ?? 'all', searched()), form)
  query('[data-filter-reset]').addEventListener('click', () => showFiltered('all', ''))
}

const field = () => query<HTMLInputElement>('.filter input')
const searched = () => field().value

function showFiltered(wanted: string, text: string): void {
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
