/** One play as a block of text: a line when all is well, the whole story when it is not. */
import type { Played, Ran } from '../../scenario/verdict.ts'
import { pad, shorten, showMs, visible, widthOf } from '../text.ts'
import type { Layout } from './failure.ts'
import { OUTCOMES } from './ink.ts'
import { outsideLines, storyLines } from './story.ts'

/** `scenarios/happy.yaml > Happy path`, `… #2` when it is repeated. */
export const titleOf = ({ file, name, instance }: Pick<Played, 'file' | 'name' | 'instance'>): string =>
  visible(`${file} > ${name}${instance > 1 ? ` #${instance}` : ''}`)

const INDENT = '  '

/** What failed for want of its surroundings has a reason, and no story. */
export const hasStory = ({ failures }: Played): boolean => failures.some(({ kind }) => kind !== 'environment')

/** Plays without a story that say the same: repeats of one scenario, or all that could not be played for one reason. */
export function shortLines(plays: readonly Played[], layout: Layout): string[] {
  const groups = new Map<string, Played[]>()
  for (const played of plays) {
    const key = sameLine(played)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [played])
    else group.push(played)
  }
  return [...groups.values()].map(group =>
    group.length === 1 ? shortLine(group[0]!, layout) : groupLine(group, layout),
  )
}

const sameLine = (played: Played): string =>
  JSON.stringify(
    played.outcome === 'pass'
      ? [played.file, played.name, played.warnings.length > 0 && played.instance]
      : [played.outcome, played.reason ?? played],
  )

function groupLine(group: readonly Played[], layout: Layout): string {
  const [first] = group as [Played]
  const { word, shade } = OUTCOMES[first.outcome]
  if (first.outcome !== 'pass')
    return `${layout.ink[shade](word)} ${group.length} scenarios  ${visible(first.reason ?? '')}`
  const time = group.reduce((sum, { durationMs }) => sum + durationMs, 0) / group.length
  const times = `${group.length} times, ${showMs(time)} each`
  return `${layout.ink[shade](word)} ${titleOf({ ...first, instance: 1 })}  ${layout.ink.faint(times)}`
}

export const playLines = (played: Played, layout: Layout): string[] =>
  hasStory(played) ? storyOf(played, layout) : [shortLine(played, layout)]

function shortLine(played: Played, { ink }: Layout): string {
  const { word, shade } = OUTCOMES[played.outcome]
  const warnings = played.warnings.length === 0 ? '' : `  ${ink.warn(warned(played.warnings.length))}`
  const because = played.reason ?? played.failures[0]?.happened ?? ''
  const why = because === '' ? '' : `  ${visible(because)}`
  const time = played.outcome === 'skipped' ? '' : `  ${ink.faint(showMs(played.durationMs))}`
  return `${ink[shade](word)} ${titleOf(played)}${time}${why}${warnings}`
}

const warned = (count: number) => `${count} warning${count === 1 ? '' : 's'}`

const storyOf = (played: Played, layout: Layout): string[] => [
  headLine(played, layout),
  ...indented(storyLines(played, inner(layout))),
]

/** What belongs to no scenario. */
export function outsideStory(ran: Ran, layout: Layout): string[] {
  if (ran.failures.length === 0) return []
  const head = `${layout.ink.bad('FAIL')} ${layout.ink.strong('outside every scenario')}`
  return [head, ...indented(outsideLines(ran, inner(layout)))]
}

const inner = (layout: Layout): Layout => ({ ...layout, columns: layout.columns - INDENT.length })
const indented = (lines: readonly string[]) => lines.map(line => `${INDENT}${line}`)

/** `FAIL scenarios/happy.yaml > Happy path          seed 1, real clock, 6.4 s`. */
function headLine(played: Played, { columns, ink }: Layout): string {
  const { word, shade } = OUTCOMES[played.outcome]
  const facts = `seed ${played.seed}, ${played.clock} clock, ${showMs(played.durationMs)}`
  const room = Math.max(20, columns - widthOf(word) - widthOf(facts) - 4)
  return `${ink[shade](word)} ${ink.strong(pad(shorten(titleOf(played), room), room))}  ${ink.faint(facts)}`
}
