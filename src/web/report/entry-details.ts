/** Renders a journal entry in sections, as the side panel shows it. */
import type { Entry } from '../../journal/entry.ts'
import { isTruncatedValue, pretty, type Section, sectionsOf } from '../model/entry-sections.ts'
import { moment } from '../model/formats.ts'
import { html, lines, type Markup, type Part } from './markup.ts'

/** Renders a whole entry, as the side panel shows it. */
export const entryMarkup = (entry: Entry): Markup => html`<section class="entry">
<h4><span class="seq">#${entry.seq}</span> ${entry.kind} <small>${moment(entry.time)}${entry.cause !== null && `, caused by #${entry.cause}`}</small></h4>
${sectionsOf(entry).map(sectionMarkup)}
<details class="raw"><summary>The entry as JSON</summary>${payloadMarkup(entry)}</details>
</section>`

const sectionMarkup = ({
  title,
  aside,
  headers = {},
  payload,
  list,
}: Section): Markup => html`<h5>${title}${aside !== undefined && html` <small>${aside}</small>`}</h5>
${list !== undefined && html`<ul>${list.map(item => html`<li>${item}</li>`)}</ul>`}
${headerTable(headers)}${payload !== undefined && payload !== '' && payloadMarkup(payload)}`

function headerTable(headers: Readonly<Record<string, string>>): Part {
  if (isTruncatedValue(headers)) return payloadMarkup(headers)
  const rows = Object.entries(headers).map(([name, value]) => html`<dt>${name}</dt><dd>${String(value)}</dd>`)
  return rows.length > 0 && html`<dl class="headers">${rows}</dl>`
}

const payloadMarkup = (payload: unknown): Markup => html`<pre tabindex="0">${lines(pretty(payload))}</pre>`
