/** One play: a line in the list of scenarios, and below it all there is to know. */
import type { ScenarioResult } from '../../../evaluator/verdict.ts'
import type { Gathered } from '../evidence.ts'
import { duration } from '../figures.ts'
import { mark } from '../icons.ts'
import { exact, html, type Markup, type Part } from '../markup.ts'
import { linkTo, type Placed } from '../order.ts'
import { entryLink } from './entry-link.ts'
import { failureCards } from './failures.ts'
import { placeOf } from './place.ts'
import { stepTable } from './steps.ts'
import { timelineSection } from './timeline-section.ts'

export const playSection = ({ played, slug }: Placed, evidence: Gathered, open: boolean): Markup => html`
<details class="play ${played.outcome}" id="${exact(slug)}" data-outcome="${played.outcome}"${open && html` open`}>
${summary(played)}
<div class="inside">
${facts(played, slug)}
${played.reason !== null && html`<p class="reason">${played.reason}</p>`}
${failureCards(played.failures, slug)}
${warnings(played, slug)}
${again(played)}
${stepTable(played, slug)}
${timelineSection(played, evidence)}
</div>
</details>`

/** Name, place and what is wrong, in columns that line up with those of the others. */
const summary = ({
  outcome,
  name,
  file,
  place,
  failures,
  reason,
  durationMs,
  instance,
}: ScenarioResult): Markup => html`<summary>
${mark(outcome)}
<h3 class="name"><b>${name}</b>${instance > 1 && html` <small>run ${instance}</small>`}<small class="place">${place === null ? file : placeOf(place)}</small></h3>
<span class="first">${failures[0] === undefined ? reason : firstLine(failures)}</span>
<span class="took">${outcome !== 'skipped' && duration(durationMs)}</span>
</summary>`

function firstLine(failures: ScenarioResult['failures']): Part {
  const [{ wanted, happened }, ...more] = failures as [
    ScenarioResult['failures'][number],
    ...ScenarioResult['failures'],
  ]
  return html`<span class="happened">${happened}</span><small>${wanted}${more.length > 0 && ` (and ${more.length} more)`}</small>`
}

function facts({ seed, clock, startedAt, tags, spec, conversations, captures }: ScenarioResult, slug: string): Markup {
  const rows: [string, Part][] = [
    ['Seed', String(seed)],
    ['Clock', clock],
    ['Started', startedAt.slice(11, 19)],
    ['Tags', tags.join(', ')],
    ['Rules', spec.join(', ')],
    ['Chats', chats(conversations)],
    ['Captured', captured(captures)],
  ]
  const there = rows.filter(([, value]) => value !== '' && value !== null)
  return html`<dl class="facts">${there.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}<div class="self"><dd><a href="${exact(linkTo(slug))}">Link to this scenario</a></dd></div></dl>`
}

const MOST_CHATS = 4

function chats(conversations: ScenarioResult['conversations']): Part {
  const all = Object.entries(conversations)
  const shown = all
    .slice(0, MOST_CHATS)
    .map(([conversation, id]) => html`<span class="pair">${conversation} <code>${id}</code></span> `)
  return all.length === 0 ? null : [shown, all.length > MOST_CHATS && `and ${all.length - MOST_CHATS} more`]
}

function captured(captures: ScenarioResult['captures']): Part {
  const pairs = Object.entries(captures).map(
    ([name, value]) =>
      html`<span class="pair">${name} <code>${(JSON.stringify(value) ?? '').slice(0, 80)}</code></span> `,
  )
  return pairs.length === 0 ? null : pairs
}

function warnings({ warnings }: ScenarioResult, slug: string): Part {
  if (warnings.length === 0) return null
  const items = warnings.map(
    ({ rule, message, conversation, marks }) =>
      html`<li><code>${rule}</code> ${message}${conversation !== null && ` (chat ${conversation})`} ${marks.map(seq => entryLink(slug, seq))}</li>`,
  )
  return html`<ul class="own-warnings" aria-label="Warnings">${items}</ul>`
}

const again = ({ again }: ScenarioResult): Part =>
  again !== '' &&
  html`<p class="again"><span>Play it again</span> <code>${again}</code> <button type="button" class="scripted-only" data-copy="${exact(again)}">Copy</button></p>`
