/** Whatever texts a run or a certificate contains, each report is valid in its format and hides no character. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ctrfReport } from '../../src/pages/reporters/ctrf.ts'
import { githubAnnotations, markdownReport, withoutCommands } from '../../src/pages/reporters/github.ts'
import { certificateJson, jsonReport } from '../../src/pages/reporters/json.ts'
import { element, junitReport, xmlText } from '../../src/pages/reporters/junit.ts'
import { createLog } from '../../src/pages/reporters/log.ts'
import { prettyReport } from '../../src/pages/reporters/pretty.ts'
import { certificateText } from '../../src/pages/reporters/pretty-certificate.ts'
import { createProgress } from '../../src/pages/reporters/progress.ts'
import { type Report, reportOfCertificate, reportOfRun } from '../../src/pages/reporters/report-model.ts'
import { tapReport } from '../../src/pages/reporters/tap.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { hostileCertificate } from './certificates.ts'
import { readCommands, readTap, readXml } from './format-readers.ts'
import { anyText, HOSTILE, hostileResult, UNSEEN } from './hostile.ts'
import { readCtrf } from './read-ctrf.ts'
import { failure, result } from './run-results.ts'

const OUTCOMES = ['pass', 'fail', 'skipped'] as const
/** All samples, and some texts of any characters. */
const RUNS = { examples: HOSTILE.map((text): [string] => [text]), numRuns: HOSTILE.length + 6 }

const hostileRun = (text: string) =>
  result(
    OUTCOMES.map(outcome => hostileResult(text, outcome)),
    { failures: [failure({ happened: text, expected: text })], target: text, stopped: text },
  )

const reportsOf = (text: string): Report[] => [
  reportOfRun(hostileRun(text)),
  reportOfCertificate(hostileCertificate(text)),
]

/** Shows a text in each way that a terminal may show it. */
function terminalTexts(text: string): string[] {
  const output = fakeOutput()
  const progress = createProgress({ output, isTTY: false, colorLevel: 0, columns: 80 })
  progress.planned(1)
  progress.finished({ name: text, outcome: 'fail', durationMs: 5, cause: text })
  progress.stop()
  const { journal } = hostileResult(text)
  return [
    prettyReport(hostileRun(text), { colorLevel: 0 }),
    certificateText(hostileCertificate(text), { colorLevel: 0 }),
    journal.map(createLog({ style: 'pretty', colorLevel: 0 })).join(''),
    journal.map(createLog({ style: 'compact', colorLevel: 0 })).join(''),
    output.text,
  ]
}

const failedItems = ({ command }: Report) => (command === 'handover-sim' ? 2 : 1)

/** Renders a report in a format, and checks the rule of the format. */
const FORMATS: Readonly<Record<string, (report: Report) => string>> = {
  junit(report) {
    const shown = junitReport(report)
    expect(readXml(shown).querySelectorAll('testcase')).toHaveLength(report.items.length)
    return shown
  },
  ctrf(report) {
    const shown = ctrfReport(report)
    expect(readCtrf(shown).tests).toHaveLength(report.items.length)
    // The texts themselves: JSON escapes some characters.
    const texts: string[] = []
    JSON.parse(shown, (_key, value) => typeof value === 'string' && texts.push(value))
    return texts.join('\n')
  },
  tap(report) {
    const shown = tapReport(report)
    const isOk = report.items.map(({ status, isTodo }) => status !== 'failure' && status !== 'error' && !isTodo)
    expect(readTap(shown).points.map(({ ok }) => ok)).toEqual(isOk)
    return shown
  },
  github(report) {
    const shown = githubAnnotations(report)
    expect(readCommands(shown).map(({ command }) => command)).toEqual(Array(failedItems(report)).fill('error'))
    return shown
  },
  markdown(report) {
    const shown = markdownReport(report)
    expect(shown.replace(/<\/?(details|summary|pre|br)>/g, '')).not.toMatch(/<[a-z/!]/i)
    const rows = shown.split('\n').filter(line => line.startsWith('| FAIL'))
    for (const row of rows) expect(row.match(/\|/g)).toHaveLength(5)
    return shown
  },
}

it.each<[format: string, textsOf: (text: string) => string[]]>([
  ['terminal', terminalTexts],
  ...Object.entries(FORMATS).map(
    ([format, render]) => [format, (text: string) => reportsOf(text).map(render)] as never,
  ),
])('%s', (_format, textsOf) => {
  const check = (text: string) => {
    for (const shown of textsOf(text)) expect(shown).not.toMatch(UNSEEN)
  }
  fc.assert(fc.property(anyText, check), RUNS)
})

it('json: one line, which preserves each text', () => {
  const check = (text: string) => {
    const shown = [jsonReport(hostileRun(text)), certificateJson(hostileCertificate(text))]
    for (const json of shown) expect(json.indexOf('\n')).toBe(json.length - 1)
    const [run, certificate] = shown.map(json => JSON.parse(json))
    expect([run.scenarios[0].name, run.target, certificate.target]).toEqual([text, text, text])
  }
  fc.assert(fc.property(anyText, check), RUNS)
})

it('XML preserves every text that it can contain, and replaces the others', () => {
  const special = fc.constantFrom('\t', '\n', '\r', '<', '&', '"', "'", ']', '>', '😀')
  fc.assert(
    fc.property(fc.string({ unit: fc.oneof(special, fc.string({ minLength: 1, maxLength: 1 })) }), text => {
      const { documentElement } = readXml(element('a', { b: text }, [xmlText(text)]))
      expect([documentElement.getAttribute('b'), documentElement.textContent]).toEqual([text, text])
    }),
  )
  expect(xmlText('\u0000a\ufffe\ud800b😀')).toBe('\ufffda\ufffd\ufffdb😀')
})

it('the log of a workflow contains no command of a text', () => {
  const log = withoutCommands('  ::error::x\n::stop-commands::y\nas it ::was\n##[add-mask]z\n')
  expect(log).toBe('  .::error::x\n.::stop-commands::y\nas it ::was\n# #[add-mask]z\n')
})
