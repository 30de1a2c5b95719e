/** One failure in words: what happened, what was wanted and where, what came nearest and why it was not taken. */

import type { Failure, NearMiss, StepRef } from '../evaluator/verdict.ts'
import type { Place } from '../scenario/plan.ts'
import { wrap } from '../text/terminal-text.ts'
import { visible } from '../text/visible.ts'
import { differenceLines } from './difference.ts'
import type { Shade, Theme } from './theme.ts'

export interface Layout {
  readonly columns: number
  readonly theme: Theme
}

const OTHERS = 5
const LABEL_COLUMNS = 9

/** The cause comes first. */
export function failureLines(failure: Failure, layout: Layout): string[] {
  return [
    ...hung('x ', visible(failure.happened), 'bad', layout),
    ...hung('  ', `${whereOf(failure)}${visible(failure.wanted)}`, 'plain', layout),
    ...nearestLines(failure.nearest, layout),
    ...labelled('hint', failure.hint, 'hint', layout),
    ...labelled('rules', failure.rules.join(', '), 'faint', layout),
  ]
}

/** The first line after a mark, further ones below it. */
function hung(mark: string, text: string, shade: Shade, { columns, theme }: Layout): string[] {
  const lines = wrap(text, columns - mark.length)
  return lines.map((line, index) => theme[shade](`${index === 0 ? mark : ' '.repeat(mark.length)}${line}`))
}

/** `scenarios/happy.yaml:19:5  step 7/10  `. */
function whereOf({ step, conversation, soft }: Failure): string {
  const parts = [
    step?.place ? placeText(step.place) : '',
    step === null ? chatText(conversation) : stepText(step),
    soft ? 'soft' : '',
  ].filter(Boolean)
  return parts.map(part => `${part}  `).join('')
}

/** `main` is the only chat of its scenario. */
const chatText = (conversation: string | null) =>
  conversation === null || conversation === 'main' ? '' : `chat ${visible(conversation)}`

export const placeText = ({ file, line, column }: Place): string => `${visible(file)}:${line}:${column}`

function stepText({ number, of, id, name, conversation }: StepRef): string {
  const called = name ?? id
  const chat = chatText(conversation)
  return `step ${number}/${of}${called === null ? '' : ` ${visible(called)}`}${chat && `, ${chat}`}`
}

function nearestLines(nearest: readonly NearMiss[], layout: Layout): string[] {
  const [first, ...others] = nearest
  if (first === undefined) return []
  const left = others.length - OTHERS
  return [
    ...missLines('nearest', first, layout),
    ...others.slice(0, OTHERS).flatMap((miss, index) => missLines(index === 0 ? 'others' : '', miss, layout)),
    ...(left > 0 ? labelled(' ', `… ${left} more`, 'faint', layout) : []),
  ]
}

function missLines(label: string, miss: NearMiss, layout: Layout): string[] {
  const after = `${miss.afterMs < 0 ? '-' : '+'}${(Math.abs(miss.afterMs) / 1000).toFixed(2)}s`
  const head = `#${miss.seq} ${visible(miss.what)} ${after}  ${visible(miss.why)}`
  const margin = ' '.repeat(2 + LABEL_COLUMNS)
  const inner = differenceLines(miss.differences, layout.columns - margin.length, layout.theme)
  return [...labelled(label || ' ', head, 'plain', layout), ...inner.map(line => `${margin}${line}`)]
}

function labelled(label: string, text: string | undefined, shade: Shade, { columns, theme }: Layout): string[] {
  if (text === undefined || text === '') return []
  const lines = wrap(visible(text), columns - 2 - LABEL_COLUMNS)
  return lines.map(
    (line, index) => `  ${theme.faint((index === 0 ? label : '').padEnd(LABEL_COLUMNS))}${theme[shade](line)}`,
  )
}
