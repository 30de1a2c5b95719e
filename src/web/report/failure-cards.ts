/** Renders failures: expectation, what happened, a hint, and the nearest calls. */
import type { DifferenceReport, FailureReport, NearMissReport } from '../../evaluator/wording/report.ts'
import { placeText } from '../../scenario/plan.ts'
import { counted } from '../../text/quantities.ts'
import { defineTexts } from '../../text/texts.ts'
import { offsetText } from '../model/formats.ts'
import { html, type Markup, type Part } from './markup.ts'
import { outcomeIcon } from './page.ts'
import { entryLink } from './scenario-links.ts'

/** `slug` addresses the entries of the scenario; null outside of every scenario. */
export function failureCards(failures: readonly FailureReport[], slug: string | null): Part {
  if (failures.length === 0) return null
  return html`<div class="failures">${failures.map(failure => card(failure, slug))}</div>`
}

const KINDS = defineTexts({
  expect: 'an expected call is missing',
  none: 'a forbidden call',
  sees: 'the agent does not see the message as expected',
  check: 'the chat is not in the expected state',
  stimulus: 'a step failed',
  driver: 'the agent driver refused',
  unexpected: 'an unexpected call',
  contract: 'a call that violates the contract',
  never: 'a violated invariant',
  times: 'too many calls, or too close together',
  echo: "the user's own text was sent back",
  leak: 'a text appeared in another chat',
  late: 'a call after the end of the scenario',
  lint: 'a warning, treated as a failure',
  stopped: 'interrupted',
  evicted: 'evicted entries',
  scenario: 'unusable scenario',
  environment: 'an environment error',
  internal: 'an internal error of handover-sim',
} satisfies Record<FailureReport['kind'], string>)

const card = (
  failure: FailureReport,
  slug: string | null,
): Markup => html`<article class="failure${failure.soft && ' soft'}">
${titled(slug, html`${outcomeIcon(['environment', 'internal'].includes(failure.kind) ? 'error' : 'fail')}<span>${KINDS[failure.kind]}</span>${where(failure)}`)}
<dl>
<div><dt>expected</dt><dd>${failure.expected}</dd></div>
<div class="happened"><dt>happened</dt><dd>${failure.happened}${failure.entrySeqs.length > 0 && html` <span class="marks">${failure.entrySeqs.map(seq => entryLink(slug, seq))}</span>`}</dd></div>
${failure.hint !== undefined && html`<div class="hint"><dt>hint</dt><dd>${failure.hint}</dd></div>`}
</dl>
${nearMisses(failure.nearest, slug)}
</article>`

/** The heading is one level higher outside of a scenario. */
const titled = (slug: string | null, title: Markup): Markup =>
  slug === null ? html`<h3 class="title">${title}</h3>` : html`<h4 class="title">${title}</h4>`

function where({ step, conversation, rules, soft }: FailureReport): Markup {
  const words = [
    step !== null && `step ${step.number}/${step.of}${step.name === null ? '' : ` ${step.name}`}`,
    step?.place != null && placeText(step.place),
    conversation !== null && conversation !== 'main' && `chat ${conversation}`,
    rules.length > 0 && `rule ${rules.join(', ')}`,
    soft && 'soft',
  ].filter(word => word !== false)
  return html`<span class="where">${words.map(word => html`<span>${word}</span>`)}</span>`
}

function nearMisses(nearest: readonly NearMissReport[], slug: string | null): Part {
  const [first, ...others] = nearest
  if (first === undefined) return null
  return html`<div class="nearest"><p class="caption">Nearest</p>${nearMiss(first, slug)}
${others.length > 0 && html`<details><summary>${counted(others.length, 'other')}</summary>${others.map(miss => nearMiss(miss, slug))}</details>`}</div>`
}

const nearMiss = (
  { seq, what, afterMs, why, differences }: NearMissReport,
  slug: string | null,
): Markup => html`<div class="near">
<p>${entryLink(slug, seq)}<span class="what">${what}</span> <span class="at">${offsetText(afterMs)} s</span> <span class="why">${why}</span></p>
${differences.length > 0 && html`<table class="differences"><thead><tr><th>field</th><th>expected</th><th>received</th><th class="visually-hidden">hint</th></tr></thead><tbody>${differences.map(difference)}</tbody></table>`}
</div>`

function difference({ path, expected, received, hint }: DifferenceReport): Markup {
  const [wanted, was] = markDifference(expected, received)
  return html`<tr><th scope="row">${path || 'the whole'}</th><td class="wanted">${wanted}</td><td class="was">${was}</td><td>${hint}</td></tr>`
}

/** Marks where two texts differ; marks nothing when they have little in common. */
export function markDifference(expected: string, actual: string): [wanted: Markup, was: Markup] {
  const [a, b] = [shortened(expected), shortened(actual)]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++
  if ((start + end) * 2 < shorter) return [marked(a, a.length, 0), marked(b, b.length, 0)]
  return [marked(a, start, end), marked(b, start, end)]
}

const LONGEST = 2000

function shortened(text: string): string[] {
  return text.length <= LONGEST ? [...text] : [...text.slice(0, LONGEST), '…']
}

function marked(chars: readonly string[], start: number, end: number): Markup {
  const [head, middle, tail] = [
    chars.slice(0, start),
    chars.slice(start, chars.length - end),
    end === 0 ? [] : chars.slice(-end),
  ]
  return html`<code>${head.join('')}${middle.length > 0 && html`<mark>${middle.join('')}</mark>`}${tail.join('')}</code>`
}
