/** Renders the findings of a check as lines: what happened, what to try, the pass rule, the diagram, the commands. */
import { visible } from '../../base/text/terminal-text.ts'
import { type CheckReport, isExpectedFailure } from '../../running/certifier/report.ts'
import { diagramOf } from './diagram.ts'
import { targetOutputLines } from './failures.ts'
import { type Layout, labelled, type Shade } from './theme.ts'

/** The first finding, else the reason, in one line; empty when it passed. */
export const checkCause = ({ findings: [first], reason }: Pick<CheckReport, 'findings' | 'reason'>): string =>
  first?.happened ?? reason ?? ''

const LABEL_COLUMNS = 10

/** A warning or a blocked check would repeat what others show. */
const SHOWS_OUTPUT: readonly CheckReport['outcome'][] = ['fail', 'error', 'inconclusive']

/** `similar`: an earlier check with the same first finding, which is shown in full. */
export function checkDetails(check: CheckReport, layout: Layout, similar: CheckReport | null = null): string[] {
  const { columns, theme } = layout
  const { findings, passes, outcome, reason, decisiveText, avoidedText, expectation } = check
  const lines: string[] = []
  const add = (label: string, text: string, shade: Shade = 'plain') =>
    lines.push(...labelled(label, text, layout, LABEL_COLUMNS, shade))
  if (expectation?.status === 'failed')
    add('because', `${expectation.because}${expectation.until === null ? '' : ` (until ${expectation.until})`}`)
  if (expectation?.status === 'expired')
    add('because', `It was expected to fail until ${expectation.until}: ${expectation.because}`, 'bad')
  for (const [at, { level, happened, hint = '', entrySeqs }] of findings.entries()) {
    if (at > 0) lines.push('')
    const seqs = entrySeqs.length === 0 ? '' : ` (${entrySeqs.map(seq => `#${seq}`).join(', ')})`
    const shade = outcome === 'info' || level === 'INFO' ? 'plain' : level === 'MUST' ? 'bad' : 'warn'
    add('happened', `${findings.length === 1 ? '' : `${level}: `}${happened}${seqs}`, shade)
    add('try', hint, 'hint')
  }
  if (findings.length > 0 && outcome !== 'info') add('expected', passes)
  if (similar !== null) add('', `The same finding as in ${similar.id}, which is shown with its diagram.`, 'faint')
  if (reason !== null) add('because', reason)
  if (similar === null && SHOWS_OUTPUT.includes(outcome)) lines.push(...targetOutputLines(check, layout))
  if (decisiveText !== null) add('varied', decisiveText)
  if (avoidedText !== null) add('repeated', avoidedText)
  if (similar === null && !isExpectedFailure(check) && outcome !== 'info') {
    const diagram = diagramOf(timelineSourceOf(check), columns)
    if (diagram.length > 0) lines.push('', ...diagram.map(({ text, shade }) => theme[shade](text)), '')
  }
  // A command stays on one line, so that it can be copied.
  if (outcome !== 'info') lines.push(`${theme.faint('help'.padEnd(LABEL_COLUMNS))}${visible(check.helpCommand)}`)
  lines.push(`${theme.faint('rerun'.padEnd(LABEL_COLUMNS))}${visible(check.rerunCommand)}`)
  return lines
}

/** The chats that the findings are about, or all when they name none; of a diagnosis, the trials that they name. */
function timelineSourceOf({ journal, chats, findings }: CheckReport) {
  const seqs = new Set(findings.flatMap(({ entrySeqs }) => entrySeqs))
  const ids = new Set<string>()
  for (const { seq, chat_id } of journal) if (seqs.has(seq) && chat_id !== undefined) ids.add(chat_id)
  const isShown = (id: string | undefined) => ids.size === 0 || id === undefined || ids.has(id)
  return {
    journal: journal.filter(entry => {
      const isTrial = entry.kind === 'delivery' && entry.probe !== undefined
      return isTrial ? seqs.has(entry.seq) : isShown(entry.chat_id)
    }),
    conversations: Object.fromEntries(Object.entries(chats).filter(([, id]) => isShown(id))),
    steps: [],
    failures: [{ step: null, entrySeqs: [...seqs] }],
  }
}
