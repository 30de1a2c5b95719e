/** Failures that say the same: one written step that went wrong in every round, or for every user. */

import type { Failure } from '../evaluator/verdict.ts'
import { visible } from '../text/visible.ts'

/** The first of them, and the others. */
export type FailureGroup = readonly [Failure, ...Failure[]]

/** In the order of their first. */
export function groupFailures(failures: readonly Failure[]): FailureGroup[] {
  const groups = new Map<string, [Failure, ...Failure[]]>()
  for (const failure of failures) {
    const key = sameness(failure)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [failure])
    else group.push(failure)
  }
  return [...groups.values()]
}

function sameness({ kind, step, conversation, soft, wanted, happened, hint }: Failure): string {
  const place = step === null ? null : [step.place, step.place === null && step.number]
  const texts = [wanted, happened].map(text => masked(text, conversation))
  return JSON.stringify([kind, place, soft, texts, hint])
}

/** What differs each time: which entry, when, whose chat, and the numbers in texts. A status that differs is news. */
const masked = (text: string, conversation: string | null): string =>
  (conversation === null ? text : text.replaceAll(JSON.stringify(conversation), '"…"'))
    .replace(/"(?:[^"\\]|\\.)*"/g, quoted => quoted.replace(/\d+/g, '0'))
    .replace(/#\d+|\bsteps? \d+|[+-]?\d+(\.\d+)? m?s\b/g, '0')

/** `and 7 more like it: steps 8, 9, 14-18`; null when there is none. */
export function othersText([, ...others]: FailureGroup): string | null {
  if (others.length === 0) return null
  const steps = others.flatMap(({ step }) => (step === null ? [] : [step.number])).sort((a, b) => a - b)
  const chats = others.flatMap(({ step, conversation }) =>
    step === null && conversation !== null && conversation !== 'main' ? [visible(conversation)] : [],
  )
  const where = [
    steps.length === 0 ? '' : `step${steps.length === 1 ? '' : 's'} ${ranges(steps)}`,
    chats.length === 0 ? '' : `chat${chats.length === 1 ? '' : 's'} ${chats.join(', ')}`,
  ].filter(Boolean)
  return `and ${others.length} more like it${where.length === 0 ? '' : `: ${where.join('; ')}`}`
}

/** `3, 8-10`. */
export function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
