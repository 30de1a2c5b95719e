/** Links into the report: `#scenario` opens it, `#scenario/11` shows its entry 11. */
import { openPlay, playOf, rowWith } from './diagrams.ts'
import { showFiltered } from './filter.ts'
import { goTo } from './keys.ts'
import { showRow } from './panel.ts'

export function startLinks(): void {
  addEventListener('hashchange', followHash)
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#"]')
    // The browser says nothing when the address stays the same.
    if (link !== null && link.hash === location.hash) followHash()
  })
}

export function followHash(): void {
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
