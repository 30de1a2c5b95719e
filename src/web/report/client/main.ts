/** Starts the script of the report page, with its links and copy buttons. */

import { showFiltered, startFilter } from './filter.ts'
import { goTo, startKeys } from './keys.ts'
import { showRow, startPanel } from './panel.ts'
import { openScenario, rowWith, scenarioOf, startDiagrams } from './timelines.ts'

startDiagrams()
startPanel()
startFilter()
startKeys()
startLinks()
startCopying()
addEventListener('beforeprint', () => {
  for (const scenario of document.querySelectorAll<HTMLDetailsElement>('.scenario.fail, .scenario.error'))
    openScenario(scenario)
})
followHash()

function startCopying(): void {
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('[data-copy]')
    if (button !== null) copy(button)
  })
}

async function copy(button: HTMLElement): Promise<void> {
  const done = await navigator.clipboard.writeText(button.dataset.copy!).then(
    () => true,
    () => copySelected(button),
  )
  button.textContent = done ? 'Copied' : 'Press Ctrl+C'
  document.querySelector('#status')!.textContent = done ? 'Copied' : 'Selected, press Ctrl+C to copy'
  for (const event of ['blur', 'pointerleave'])
    button.addEventListener(event, () => (button.textContent = 'Copy'), { once: true })
}

/** Selects the text, for browsers that refuse access to the clipboard. */
function copySelected(button: HTMLElement): boolean {
  getSelection()!.selectAllChildren(button.previousElementSibling!)
  return document.execCommand('copy')
}

function startLinks(): void {
  addEventListener('hashchange', followHash)
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#"]')
    // The browser says nothing when the address stays the same.
    if (link !== null && link.hash === location.hash) followHash()
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
  const select = scenarioOf(row).querySelector<HTMLSelectElement>('select[name="chat"]')!
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
