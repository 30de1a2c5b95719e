/** The steps of a play, when each began and how long it took. */
import type { Played, StepVerdict } from '../../../scenario/verdict.ts'
import { showMs } from '../../text.ts'
import { offset } from '../figures.ts'
import { mark } from '../icons.ts'
import { html, type Markup, type Part } from '../markup.ts'
import { entryLink } from './entry-link.ts'

export function stepTable(played: Played, slug: string): Part {
  const { steps } = played
  if (steps.length === 0) return null
  const severalLanes = new Set(steps.map(({ lane }) => lane)).size > 1
  const frame = frameOf(played)
  return html`<section class="steps"><h4>Steps</h4><ol>${steps.map(step => stepItem(step, slug, frame, severalLanes))}</ol></section>`
}

interface Frame {
  readonly startMs: number
  readonly lengthMs: number
}

function frameOf({ journal, steps }: Played): Frame {
  const begun = steps.flatMap(({ startMs, endMs }) => [startMs, endMs]).filter(ms => ms !== null)
  const startMs = journal[0]?.at_ms ?? Math.min(...begun, 0)
  return { startMs, lengthMs: Math.max(1, ...begun.map(ms => ms - startMs)) }
}

const stepItem = (
  step: StepVerdict,
  slug: string,
  frame: Frame,
  severalLanes: boolean,
): Markup => html`<li class="${step.outcome === 'not reached' ? 'unreached' : step.outcome}" value="${step.number}">
${mark(step.outcome)}<span class="number">${step.number}</span>${severalLanes && html`<span class="lane">${step.lane}</span>`}<span class="label" title="${step.label}">${step.name !== null && html`<b>${step.name}</b> `}${step.label}</span>
<span class="claimed">${step.claimed.map(seq => entryLink(slug, seq))}</span><span class="line">${step.place !== null && `:${step.place.line}`}</span>${timing(step, frame)}</li>`

function timing({ startMs, endMs }: StepVerdict, frame: Frame): Part {
  if (startMs === null) return html`<span class="at"></span><span class="took"></span>`
  const from = startMs - frame.startMs
  const length = (endMs ?? frame.startMs + frame.lengthMs) - startMs
  const [left, width] = [from, length].map(ms => `${((Math.max(0, ms) / frame.lengthMs) * 100).toFixed(2)}%`)
  return html`<span class="at">${offset(from)}</span><span class="took">${endMs === null ? 'not ended' : showMs(length)}</span><span class="when" aria-hidden="true"><i style="left:min(${left},100% - 3px);width:${width}"></i></span>`
}
