import { describe, expect, it } from 'vitest'
import { CERTIFICATE_REPORTS, parseReports, RUN_REPORTS } from '../../src/pages/reporters/report-option.ts'

const shown = (flag: string, env = {}) =>
  parseReports(flag, RUN_REPORTS, env).map(({ report, file }) => (file === null ? report : `${report}=${file}`))

describe('--report', () => {
  it('writes the pretty report to stdout unless another report is there', () => {
    expect(shown('')).toEqual(['pretty'])
    expect(shown('junit=a.xml')).toEqual(['pretty', 'junit=a.xml'])
    expect(shown('json')).toEqual(['json'])
    expect(shown('tap,pretty=log.txt')).toEqual(['tap', 'pretty=log.txt'])
    expect(shown('pretty,json=run.json')).toEqual(['pretty', 'json=run.json'])
  })

  it('ignores spaces around names, and accepts file names with equals signs', () => {
    expect(shown(' pretty , json = out/a=b.json ')).toEqual(['pretty', 'json=out/a=b.json'])
  })

  it('adds annotations once in workflows of GitHub', () => {
    expect(shown('json', { GITHUB_ACTIONS: 'true' })).toEqual(['json', 'github'])
    expect(shown('github', { GITHUB_ACTIONS: 'true' })).toEqual(['pretty', 'github'])
    expect(shown('', { GITHUB_ACTIONS: 'false' })).toEqual(['pretty'])
  })

  it.each([
    ['jnuit=a.xml', '--report: there is no report "jnuit"; did you mean junit?'],
    ['xyzzyplugh', `--report: there is no report "xyzzyplugh"; known: ${RUN_REPORTS.join(', ')}.`],
    ['pretty,,tap', `--report: there is nothing between two commas; known: ${RUN_REPORTS.join(', ')}.`],
    ['=a.xml', `--report: "=a.xml" names no report; known: ${RUN_REPORTS.join(', ')}.`],
    ['junit', '--report: junit needs a file: junit=junit.xml.'],
    ['html', '--report: html needs a file: html=report.html.'],
    ['journal', '--report: journal needs a file: journal=run.jsonl.'],
    ['json=', '--report: "json=" names no file: json=FILE.'],
    ['github=a', '--report: github takes no file, got "github=a"; its table goes to GITHUB_STEP_SUMMARY.'],
    ['pretty,json', '--report: pretty and json cannot both go to stdout; give one a file: json=FILE.'],
    ['tap,json,pretty=x', '--report: tap and json cannot both go to stdout; give one a file: json=FILE.'],
    ['github,github', '--report: github is named twice.'],
    ['badge=b.svg', `--report: badge is a report of certify, not of this command; known: ${RUN_REPORTS.join(', ')}.`],
    ['json=a,junit=a', '--report: json and junit would both write a.'],
  ])('%s is refused in words', (flag, message) => {
    expect(() => parseReports(flag, RUN_REPORTS)).toThrow(expect.objectContaining({ name: 'ConfigError', message }))
  })

  it('refuses reports of runs for a certificate', () => {
    expect(() => parseReports('journal=j.jsonl', CERTIFICATE_REPORTS)).toThrow(
      `--report: journal is a report of run, not of this command; known: ${CERTIFICATE_REPORTS.join(', ')}.`,
    )
    expect(() => parseReports('badge', CERTIFICATE_REPORTS)).toThrow(
      '--report: badge needs a file: badge=handover.svg.',
    )
  })
})
