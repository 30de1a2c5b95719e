/** What failed and belongs to no scenario: calls for chats nobody knows, texts that leaked from one to another. */
import type { RunResult } from '../../evaluator/verdict.ts'
import { capEntry } from './cap.ts'
import { entryMarkup } from './diagram/entry-view.ts'
import { html, type Part } from './markup.ts'
import { failureCards } from './play/failures.ts'

const MOST_CARDS = 50
const MOST_ENTRIES = 50

export function orphans({ failures, journal }: RunResult): Part {
  if (failures.length === 0) return null
  const seqs = new Set(failures.flatMap(({ marks, nearest }) => [...marks, ...nearest.map(({ seq }) => seq)]))
  const entries = journal.filter(({ seq }) => seqs.has(seq)).slice(0, MOST_ENTRIES)
  const more = failures.length - MOST_CARDS
  return html`<section class="strays" aria-labelledby="strays-title">
<h2 id="strays-title">Outside of every scenario</h2>
${failureCards(failures.slice(0, MOST_CARDS), null)}
${more > 0 && html`<p class="left-out">${more} more are left out here.</p>`}
${entries.map(entry => html`<details class="still-entry"><summary>Entry #${entry.seq}</summary>${entryMarkup(capEntry(entry))}</details>`)}
</section>`
}
