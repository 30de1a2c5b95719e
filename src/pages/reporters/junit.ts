/** Renders JUnit XML: a suite per file, a case per scenario, the details in its failure. */
import { groupBy } from '../../base/objects.ts'
import { visible } from '../../base/text/terminal-text.ts'
import type { Outcome } from '../../evaluation/evaluator/verdict.ts'
import type { RunReport, ScenarioReport } from '../../evaluation/evaluator/wording/report.ts'
import { causeOf, detailLines, headlineOf, outsideDetailLines, outsideText, PLAIN_LAYOUT } from './failures.ts'

export function junitReport(result: RunReport): string {
  const suites = [...groupBy(result.scenarios, ({ file }) => file)].map(([file, scenarios]) => suiteOf(file, scenarios))
  const outside = outsideOf(result)
  const { fail, error, inconclusive, skipped } = result.counts
  const extra = outside === null ? 0 : 1
  const root = element(
    'testsuites',
    {
      name: 'handover-sim',
      tests: result.scenarios.length + extra,
      failures: fail + extra,
      errors: error,
      skipped: inconclusive + skipped,
      time: junitSeconds(result.durationMs),
      timestamp: junitTimestamp(result.startedAt),
    },
    [...suites, ...(outside === null ? [] : [outside])].map(suite => `\n${suite}`).concat('\n'),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`
}

export const junitSeconds = (ms: number) => (ms / 1000).toFixed(3)
/** JUnit's timestamps have neither fractions nor time zones. */
export const junitTimestamp = (iso: string) => iso.slice(0, 19)

function suiteOf(file: string, scenarios: readonly [ScenarioReport, ...ScenarioReport[]]): string {
  const count = (...outcomes: Outcome[]) => scenarios.filter(({ outcome }) => outcomes.includes(outcome)).length
  const attributes = {
    name: visible(file),
    tests: scenarios.length,
    failures: count('fail'),
    errors: count('error'),
    skipped: count('inconclusive', 'skipped'),
    time: junitSeconds(scenarios.reduce((sum, { durationMs }) => sum + durationMs, 0)),
    timestamp: junitTimestamp(scenarios[0].startedAt),
  }
  return element('testsuite', attributes, [...scenarios.map(scenario => `\n${caseOf(scenario)}`), '\n'])
}

function caseOf(scenario: ScenarioReport): string {
  const attributes = {
    name: visible(`${scenario.name}${scenario.instance > 1 ? ` #${scenario.instance}` : ''}`),
    classname: visible(scenario.file.replace(/\.(ya?ml|[jt]s|json)$/, '').replaceAll('/', '.')),
    file: visible(scenario.file),
    line: scenario.place?.line ?? null,
    time: junitSeconds(scenario.durationMs),
  }
  return element('testcase', attributes, [propertiesOf(scenario), ...resultOf(scenario)])
}

function propertiesOf({ seed, clock, tags, spec, rerunCommand }: ScenarioReport): string {
  const values = { seed, clock, tags: tags.join(' '), spec: spec.join(' '), again: rerunCommand }
  const given = Object.entries(values).filter(([, value]) => value !== '')
  const list = given.map(([name, value]) => element('property', { name, value: visible(String(value)) }))
  return element('properties', {}, list)
}

/** Reports scenarios without a verdict as skipped, with the reason, so that they never count as passed. */
function resultOf(scenario: ScenarioReport): string[] {
  const { outcome, reason, failures } = scenario
  const message = visible(causeOf({ failures, reason }))
  const type = failures[0]?.kind ?? outcome
  switch (outcome) {
    case 'pass':
      return []
    case 'skipped':
      return [element('skipped', { message })]
    case 'inconclusive':
      return [element('skipped', { message: `inconclusive: ${message}` })]
    default: {
      const text = xmlText(`\n${detailLines(scenario, PLAIN_LAYOUT).join('\n')}\n`)
      return [element(outcome === 'fail' ? 'failure' : 'error', { message, type }, [text])]
    }
  }
}

/** A suite for failures outside of every scenario; null when there are none. */
function outsideOf(result: RunReport): string | null {
  const [first] = result.failures
  if (first === undefined) return null
  const text = xmlText(`\n${outsideDetailLines(result, PLAIN_LAYOUT).join('\n')}\n`)
  const failure = element('failure', { message: visible(headlineOf(first)), type: first.kind }, [text])
  const name = outsideText()
  const counts = {
    tests: 1,
    failures: 1,
    errors: 0,
    skipped: 0,
    time: '0.000',
    timestamp: junitTimestamp(result.startedAt),
  }
  return element('testsuite', { name, ...counts }, [
    '\n',
    element('testcase', { name, classname: 'handover-sim', time: '0.000' }, [failure]),
    '\n',
  ])
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
