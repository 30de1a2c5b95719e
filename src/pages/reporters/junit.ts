/** Renders JUnit XML: a suite for each file or profile, a case for each scenario or check, the details in its failure. */
import { groupBy } from '../../base/objects.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { Report, ReportItem } from './report-model.ts'

export function junitReport(report: Report): string {
  const { command, items, durationMs, startedAt, environment } = report
  const suites = [...groupBy(items, ({ suite }) => suite)].map(([name, group]) => {
    const time = group.reduce((sum, item) => sum + item.durationMs, 0)
    const cases = group.map(item => `\n${caseOf(item)}`)
    const attributes = summarize(name, group, time, group[0].startedAt)
    return `\n${element('testsuite', attributes, [`\n${properties(environment)}`, ...cases, '\n'])}`
  })
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
    time: seconds(durationMs),
    // JUnit's timestamps have neither fractions nor time zones.
    timestamp: startedAt.slice(0, 19),
  }
}

const seconds = (ms: number) => (ms / 1000).toFixed(3)

function properties(values: Readonly<Record<string, string | number>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '')
  const list = given.map(([name, value]) => element('property', { name, value: visible(String(value)) }))
  return element('properties', {}, list)
}

function caseOf(item: ReportItem): string {
  const { name, className: classname, place, status, code: type } = item
  const attributes = {
    name,
    classname,
    file: place === undefined ? null : visible(place.file),
    line: place?.line ?? null,
    time: seconds(item.durationMs),
  }
  const parts = [properties(item.properties)]
  if (status === 'skipped') parts.push(element('skipped', { message: visible(item.skipReason ?? '') }))
  if (status === 'failure' || status === 'error') {
    const text = xmlText(`\n${item.details().join('\n')}\n`)
    parts.push(element(status, { message: visible(item.cause), type }, [text]))
  }
  return element('testcase', attributes, parts)
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
  const given = Object.entries(attributes).filter(([, value]) => value !== null)
  const head = [name, ...given.map(([key, value]) => `${key}="${xmlAttribute(String(value))}"`)].join(' ')
  return children.length === 0 ? `<${head}/>` : `<${head}>${children.join('')}</${name}>`
}
