/** Starts the script of the report page, with its links and copy buttons. */

import { onClick, query, showStatus } from './dom.ts'
import { showFiltered, startFilter } from './filter.ts'
import { goTo, startKeys } from './keys.ts'
import { showRow, startPanel } from './panel.ts'
import { openScenario, rowWith, scenarioOf, startDiagrams } from './timelines.ts'

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
