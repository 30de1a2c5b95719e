/** Renders what recordings show about the platform: for terminals, as Markdown and JSON, as a config file, and the plan of experiments. */
import { counted } from '../../base/text/quantities.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { BehaviourResult, EvidenceStatus } from '../../evaluation/calibration/behaviour-result.ts'
import { type CalibrationResult, calibrationData } from '../../evaluation/calibration/calibration.ts'
import { isRange } from '../../evaluation/calibration/evidence.ts'
import type { PlannedChat } from '../../evaluation/calibration/experiment-plan.ts'
import type { Place } from '../../evaluation/calibration/observation.ts'
import { ASSUMPTIONS } from '../../platform/contract/assumptions.ts'
import { isKnob } from '../../platform/contract/knobs.ts'
import type { ReplayResult } from '../../running/replayer/replay.ts'
import { markdown, table } from './github.ts'
import { layoutFor, type PrettyOptions } from './pretty.ts'
import { type Shade, wrapped } from './theme.ts'

const STYLES: Readonly<Record<Exclude<EvidenceStatus, 'not seen'>, { readonly word: string; readonly shade: Shade }>> =
  {
    contradicted: { word: 'CONTRADICTED', shade: 'bad' },
    changed: { word: 'CHANGED', shade: 'bad' },
    confirmed: { word: 'CONFIRMED', shade: 'good' },
  }

const valueText = (value: unknown): string =>
  Array.isArray(value) ? `[${value.join(', ')}]` : value === '' ? '(empty)' : String(value)

const placeText = ({ file, entry }: Place) => `${file} #${entry}`
const timesText = (count: number) => (count === 1 ? 'once' : `${count} times`)

/** Where the evidence is: all entries of few, the first and the last of many. */
function placesText({ places, count, first, last }: BehaviourResult): string {
  if (first === null || last === null) return ''
  if (count > places.length) return `${timesText(count)}, ${placeText(first)} to ${placeText(last)}`
  const shown = places.map((place, index) =>
    index > 0 && place.file === places[index - 1]?.file ? `#${place.entry}` : placeText(place),
  )
  return `${timesText(count)}: ${shown.join(', ')}`
}

/** What the recordings show about one behaviour, in a sentence. */
function evidenceText(result: BehaviourResult): string {
  const { name, status, inForce, fits, allowed, changes } = result
  const isFree = isKnob(name)
  if (status === 'confirmed') return `${isFree ? `${valueText(inForce)}, ` : ''}${placesText(result)}`
  if (status === 'changed') {
    const between = changes.map(({ from, to }) => `between ${placeText(from)} and ${placeText(to)}`)
    return `the platform changed ${between.slice(0, 3).join(', ')}${between.length > 3 ? ` and ${between.length - 3} more` : ''}`
  }
  const seen = allowed === null || isRange(allowed) ? 'something else' : allowed.map(valueText).join(' or ')
  const fitting = fits === undefined ? `${seen}; no value of a knob fits` : `${valueText(fits)} fits`
  return `${fitting}; in force is ${isFree ? valueText(inForce) : 'the assumption, which no knob changes'}; ${placesText(result)}`
}

const behavioursOf = ({ assumptions }: CalibrationResult) => assumptions.flatMap(({ behaviours }) => behaviours)

const notSeen = ({ assumptions }: CalibrationResult, shown: 'ordinary' | 'provoked' | 'never') =>
  ASSUMPTIONS.filter(
    ({ name, class: its }) => its === shown && assumptions.some(one => one.name === name && one.status === 'not seen'),
  ).map(({ name }) => name)

const NOT_SEEN = [
  ['ordinary', 'Not seen, although ordinary traffic shows it', 'that ordinary traffic shows'],
  [
    'provoked',
    'Not seen, because it shows only when it is provoked (--plan FILE says how)',
    'that show only when they are provoked (--plan FILE says how)',
  ],
  [
    'never',
    'Never shown by traffic: settings of the workspace, choices of the simulator, acts of the user without an event',
    'that traffic never shows',
  ],
] as const

/** `Not seen: 3 behaviours that ordinary traffic shows, ...`; the other reports have the names. */
function notSeenText(result: CalibrationResult): string | null {
  const parts: string[] = []
  for (const [shown, , those] of NOT_SEEN) {
    const { length } = notSeen(result, shown)
    if (length > 0) parts.push(`${length} ${those}`)
  }
  return parts.length === 0 ? null : `Not seen: ${parts.join(', ')}. Their names: --report markdown=FILE.`
}

function headText({ calls, events, from, to, leftOut }: CalibrationResult): string {
  const left = Object.entries(leftOut).map(([why, count]) => `${why} (${count})`)
  const time = from === null || to === null ? '' : ` from ${from} to ${to}`
  return `${counted(calls, 'call')}, ${counted(events, 'event')}${time}${left.length === 0 ? '' : `; left out: ${left.join(', ')}`}`
}

const replayText = ({ compared, differenceCount }: ReplayResult) =>
  differenceCount === 0
    ? `Replayed ${compared} answers and events without a difference.`
    : `Replayed with ${counted(differenceCount, 'difference')} in ${compared}:`

const differenceText = ({ place, what, recorded, simulated }: ReplayResult['differences'][number]) =>
  `${placeText(place)} ${what}: the platform ${recorded}; the simulator ${simulated}`

export function calibrationText(
  result: CalibrationResult,
  replay: ReplayResult | null,
  options: PrettyOptions,
): string {
  const layout = layoutFor(options)
  const { theme } = layout
  const blocks: string[][] = [wrapped(visible(headText(result)), layout)]
  for (const status of ['contradicted', 'changed', 'confirmed'] as const) {
    const { word, shade } = STYLES[status]
    const shown = behavioursOf(result).filter(one => one.status === status)
    if (shown.length === 0) continue
    const lines = shown.flatMap(one => wrapped(visible(`${one.name}: ${evidenceText(one)}`), layout, 'plain', '  '))
    blocks.push([theme[shade](`${word} ${shown.length}`), ...lines])
  }
  if (result.findings.length > 0) {
    const lines = result.findings.flatMap(({ kind, what, count, place, example }) =>
      wrapped(
        visible(`${kind}: ${what} (${timesText(count)}, first ${placeText(place)}): ${example}`),
        layout,
        kind === 'difference' ? 'bad' : 'plain',
        '  ',
      ),
    )
    blocks.push([theme.strong('Not in the contract:'), ...lines])
  }
  if (replay !== null) {
    const lines = replay.differences.flatMap(one => wrapped(visible(differenceText(one)), layout, 'plain', '  '))
    blocks.push([replayText(replay), ...lines])
  }
  const unseen = notSeenText(result)
  if (unseen !== null) blocks.push(wrapped(unseen, layout, 'faint'))
  return `${blocks.map(lines => lines.join('\n')).join('\n\n')}\n`
}

export function calibrationMarkdown(result: CalibrationResult, replay: ReplayResult | null): string {
  const blocks = [
    `## ${result.isContradicted ? 'The recordings contradict the simulator' : 'The simulator fits the recordings'}`,
    markdown(headText(result)),
  ]
  const rows = behavioursOf(result)
    .filter(({ status }) => status !== 'not seen')
    .map(one => [one.status, one.name, evidenceText(one)])
  if (rows.length > 0) blocks.push(table(['', 'Behaviour', 'Evidence'], rows))
  for (const [shown, title] of NOT_SEEN) {
    const names = notSeen(result, shown)
    if (names.length > 0) blocks.push(`**${title}:** ${markdown(names.join(', '))}`)
  }
  const findings = result.findings.map(({ kind, what, count, place, example }) => [
    kind,
    what,
    String(count),
    placeText(place),
    example,
  ])
  if (findings.length > 0) blocks.push(table(['Not in the contract', 'What', 'Count', 'First', 'Example'], findings))
  if (replay !== null) blocks.push(replayText(replay), ...replay.differences.map(one => markdown(differenceText(one))))
  return `${blocks.join('\n\n')}\n`
}

export const calibrationJson = (
  result: CalibrationResult,
  plan: readonly PlannedChat[],
  replay: ReplayResult | null,
): string => `${JSON.stringify({ v: 1, type: 'calibration', ...calibrationData(result), plan, replay })}\n`

/** The settings that fit, with the evidence for each, as lines of a config file. */
export function configLines(result: CalibrationResult, date: string): string[] {
  const knobs: string[] = []
  const evidence: string[] = []
  for (const one of behavioursOf(result)) {
    const { name, status, fits, count, first } = one
    const isKnown = status === 'confirmed' || (status === 'contradicted' && fits !== undefined)
    if (!isKnown || first === null) continue
    const value = isKnob(name) ? fits : undefined
    if (isKnob(name)) knobs.push(`  # ${visible(placesText(one))}`, `  ${name}: ${JSON.stringify(value)}`)
    const { file } = first
    evidence.push(`  ${name}: ${JSON.stringify({ ...(value === undefined ? {} : { value }), count, date, file })}`)
  }
  return [...(knobs.length > 0 ? ['knobs:', ...knobs] : []), ...(evidence.length > 0 ? ['evidence:', ...evidence] : [])]
}

/** A checklist in Markdown. */
export function planText(plan: readonly PlannedChat[]): string {
  if (plan.length === 0) return 'The recordings show everything that can be provoked.\n'
  const blocks = plan.map(({ title, steps }) => {
    const lines = steps.map(({ text, shows }) => `- [ ] ${text}${shows.length === 0 ? '' : ` (${shows.join(', ')})`}`)
    return `## ${title}\n\n${lines.join('\n')}`
  })
  return `# What to do in the real chat\n\nDo these steps from top to bottom while the traffic is recorded.\n\n${blocks.join('\n\n')}\n`
}
