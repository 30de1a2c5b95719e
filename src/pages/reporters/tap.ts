/** Renders TAP 14: a test point for each scenario or check, with a YAML block of details. */
import { visible } from '../../base/text/terminal-text.ts'
import type { Report, ReportItem } from './report-model.ts'

export function tapReport({ items, stopped }: Report): string {
  const lines = ['TAP version 14', `1..${items.length}`]
  for (const [index, item] of items.entries()) {
    const { status, isTodo, skipReason = '', title, cause, facts, word } = item
    const isOk = status === 'passed' || (status === 'skipped' && !isTodo)
    const directive = status === 'skipped' ? ` # ${isTodo ? 'TODO' : 'SKIP'} ${description(skipReason)}` : ''
    lines.push(`${isOk ? 'ok' : 'not ok'} ${index + 1} - ${`${description(title)}${directive}`.trimEnd()}`)
    const severity = word.toLowerCase()
    lines.push(...blockOf(isOk ? facts : { message: cause, severity, ...facts, story: item.details() }))
  }
  if (stopped !== null) lines.push(`Bail out! ${visible(stopped)}`)
  return `${lines.join('\n')}\n`
}

/** Escapes `#`, which begins a directive. */
const description = (text: string) => visible(text).replaceAll('\\', '\\\\').replaceAll('#', '\\#')

type Facts = ReportItem['facts'] | Readonly<Record<string, string | number | readonly string[]>>

/** Writes texts as JSON strings, which are valid YAML. */
function blockOf(facts: Facts): string[] {
  const lines = ['  ---']
  for (const [key, value] of Object.entries(facts)) {
    if (Array.isArray(value)) {
      lines.push(`  ${key}:`)
      for (const line of value) lines.push(`    - ${JSON.stringify(visible(line))}`)
    } else lines.push(`  ${key}: ${JSON.stringify(typeof value === 'string' ? visible(value) : value)}`)
  }
  return [...lines, '  ...']
}
