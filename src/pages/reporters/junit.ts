/** Renders JUnit XML: a suite for each file or profile, a case for each scenario or check, the details in its failure. */
import { groupBy } from '../../base/objects.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { Report, ReportItem } from './report-model.ts'

export function junitReport(report: Report): string {
  const { command, items, durationMs, startedAt, environment } = report
  const suites: string[] = []
  for (const [name, group] of groupBy(items, ({ suite }) => suite)) {
    let timeMs = 0
    const children = [`\n${properties(environment)}`]
    for (const item of group) {
      timeMs += item.durationMs
      children.push(`\n${caseOf(item)}`)
    }
    const attributes = summarize(name, group, timeMs, group[0].startedAt)
    suites.push(`\n${element('testsuite', attributes, [...children, '\n'])}`)
  }
  const root = element('testsuites', summarize(command, items, durationMs, startedAt), [...suites, '\n'])
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`
}

function summarize(name: string, items: readonly ReportItem[], durationMs: number, startedAt: string): Attributes {
  const counts = { failure: 0, error: 0, skipped: 0, passed: 0 }
  for (const { status } of items) counts[status]++
  return {
    name,
    tests: items.length,
    failures: counts.failure,
    errors: counts.error,
    skipped: counts.skipped,
    time: (durationMs / 1000).toFixed(3),
    // JUnit's timestamps have neither fractions nor time zones.
    timestamp: startedAt.slice(0, 19),
  }
}

function properties(values: Readonly<Record<string, string | number>>): string {
  const list: string[] = []
  for (const [name, value] of Object.entries(values))
    if (value !== '') list.push(element('property', { name, value: visible(String(value)) }))
  return element('properties', {}, list)
}

function caseOf(item: ReportItem): string {
  const { name, className: classname, place, status, code: type, durationMs } = item
  const file = place === undefined ? null : visible(place.file)
  const time = (durationMs / 1000).toFixed(3)
  const parts = [properties(item.properties)]
  if (status === 'skipped') parts.push(element('skipped', { message: visible(item.skipReason ?? '') }))
  if (status === 'failure' || status === 'error') {
    const text = xmlText(`\n${item.details().join('\n')}\n`)
    parts.push(element(status, { message: visible(item.cause), type }, [text]))
  }
  return element('testcase', { name, classname, file, line: place?.line ?? null, time }, parts)
}

/** Characters that XML 1.0 forbids; each becomes U+FFFD. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const allowed = (text: string) => text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, char => NAMED[char] ?? char)

/** Escapes carriage returns, which XML parsers read as line ends. */
export const xmlText = (text: string): string => allowed(text).replaceAll('\r', '&#13;')
/** Escapes white space that XML parsers read as spaces. */
export const xmlAttribute = (text: string): string =>
  allowed(text).replace(/[\t\n\r]/g, char => `&#${char.charCodeAt(0)};`)

type Attributes = Readonly<Record<string, string | number | null>>

/** Renders an element. Children are XML; null attributes are left out. */
export function element(name: string, attributes: Attributes, children: readonly string[] = []): string {
  let head = name
  for (const [key, value] of Object.entries(attributes))
    if (value !== null) head += ` ${key}="${xmlAttribute(String(value))}"`
  return children.length === 0 ? `<${head}/>` : `<${head}>${children.join('')}</${name}>`
}
