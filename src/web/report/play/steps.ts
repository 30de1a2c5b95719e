/** The steps of a play, when each began and how long it took. */
import type { ScenarioResult, StepVerdict } from '../../../evaluator/verdict.ts'
import { showMs } from '../../../text/terminal-text.ts'
import { offset } from '../figures.ts'
import { mark } from '../icons.ts'
import { html, type Markup, type Part } from '../markup.ts'
import { entryLink } from './entry-link.ts'

export function stepTable(played: ScenarioResult, slug: string): Part {
  const { steps } = played
  if (steps.length === 0) return null
  const severalConversations = new Set(steps.map(({ conversation }) => conversation)).size > 1
  const frame = frameOf(played)
  return html`<section class="steps"><h4>Steps</h4><ol>${steps.map(step => stepItem(step, slug, frame, severalConversations))}</ol></section>`
}

interface Frame {
  readonly startMs: number
  readonly lengthMs: number
}

function frameOf({ journal, steps }: ScenarioResult): Frame {
  const begun = steps.flatMap(({ startMs, endMs }) => [startMs, endMs]).filter(ms => ms !== null)
  const startMs = journal[0]?.at_ms ?? Math.min(...begun, 0)
  return { startMs, lengthMs: Math.max(1, ...begun.map(ms => ms - startMs)) }
}

const stepItem = (
  step: StepVerdict,
  slug: string,
  frame: Frame,
  severalConversations: boolean,
): Markup => html`<li class="${step.outcome === 'not reached' ? 'unreached' : step.outcome}" value="${step.number}">
${mark(step.outcome)}<span class="number">${step.number}</span>${severalConversations && html`<span class="lane">${step.conversation}</span>`}<span class="label" title="${step.label}">${step.name !== null && html`<b>${step.name}</b> `}${step.label}</span>
<span class="claimed">${step.claimed.map(seq => entryLink(slug, seq))}</span><span class="line">${step.place !== null && `:${step.place.line}`}</span>${timing(step, frame)}</li>`

function timing({ startMs, endMs }: StepVerdict, frame: Frame): Part {
  if (startMs === null) return html`<span class="at"></span><span class="took"></span>`
  const from = startMs - frame.startMs
  const length = (endMs ?? frame.startMs + frame.lengthMs) - startMs
  const [left, width] = [from, length].map(ms => `${((Math.max(0, ms) / frame.lengthMs) * 100).toFixed(2)}%`)
  return html`<span class="at">${offset(from)}</span><span class="took">${endMs === null ? 'not ended' : showMs(length)}</span><span class="when" aria-hidden="true"><i style="left:min(${left},100% - 3px);width:${width}"></i></span>`
}
