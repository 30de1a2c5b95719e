/** Brings the page of a report to life. All that can be read without it is there already. */

import { showFiltered, startFilter } from './filter.ts'
import { goTo, startKeys } from './keys.ts'
import { showRow, startPanel } from './panel.ts'
import { openPlay, playOf, rowWith, startDiagrams } from './timelines.ts'

startDiagrams()
startPanel()
startFilter()
startKeys()
startLinks()
startCopying()
addEventListener('beforeprint', () => {
  for (const play of document.querySelectorAll<HTMLDetailsElement>('.play.fail, .play.error')) openPlay(play)
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
  document.querySelector('#said')!.textContent = done ? 'Copied' : 'Selected, press Ctrl+C to copy'
  for (const event of ['blur', 'pointerleave'])
    button.addEventListener(event, () => (button.textContent = 'Copy'), { once: true })
}

/** Where the clipboard may not be written to: the text is selected, ready for the key. */
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
  const play = document.getElementById(slug)
  if (!(play instanceof HTMLDetailsElement)) return
  if (play.hidden) showFiltered('all', '')
  openPlay(play)
  const row = seq === null ? null : rowWith(play, seq)
  if (row === null) return play.scrollIntoView()
  if (row.hidden) showEveryConversation(row)
  showRow(row)
  goTo(row)
  row.scrollIntoView({ block: 'center' })
}

function showEveryConversation(row: HTMLElement): void {
  const select = playOf(row).querySelector<HTMLSelectElement>('select[name="lane"]')!
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
