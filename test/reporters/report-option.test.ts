import { expect, it } from 'vitest'
import { CERTIFICATE_REPORTS, parseReports, RUN_REPORTS } from '../../src/pages/reporters/report-option.ts'

const shown = (flag: string, env = {}) =>
  parseReports(flag, RUN_REPORTS, env).map(({ report, file }) => (file === null ? report : `${report}=${file}`))

const known = RUN_REPORTS.join(', ')

it.each([
  ['', {}, ['pretty']],
  ['junit=a.xml', {}, ['pretty', 'junit=a.xml']],
  ['tap,pretty=log.txt', {}, ['tap', 'pretty=log.txt']],
  [' pretty , json = out/a=b.json ', {}, ['pretty', 'json=out/a=b.json']],
  ['json', { GITHUB_ACTIONS: 'true' }, ['json', 'github']],
  ['github', { GITHUB_ACTIONS: 'true' }, ['pretty', 'github']],
  ['', { GITHUB_ACTIONS: 'false' }, ['pretty']],
])('--report %j with %j', (flag, env, reports) => {
  expect(shown(flag, env)).toEqual(reports)
})

it.each([
  [RUN_REPORTS, 'jnuit=a.xml', 'there is no report "jnuit"; did you mean junit?'],
  [RUN_REPORTS, 'xyzzyplugh', `there is no report "xyzzyplugh"; known: ${known}.`],
  [RUN_REPORTS, 'pretty,,tap', `there is nothing between two commas; known: ${known}.`],
  [RUN_REPORTS, '=a.xml', `"=a.xml" names no report; known: ${known}.`],
  [RUN_REPORTS, 'junit', 'junit needs a file: junit=junit.xml.'],
  [RUN_REPORTS, 'json=', '"json=" names no file: json=FILE.'],
  [RUN_REPORTS, 'github=a', 'github takes no file, got "github=a"; its table goes to GITHUB_STEP_SUMMARY.'],
  [RUN_REPORTS, 'pretty,json', 'pretty and json cannot both go to stdout; give one a file: json=FILE.'],
  [RUN_REPORTS, 'github,github', 'github is named twice.'],
  [RUN_REPORTS, 'badge=b.svg', `badge is a report of certify, not of this command; known: ${known}.`],
  [RUN_REPORTS, 'json=a,junit=a', 'json and junit would both write a.'],
  [CERTIFICATE_REPORTS, 'journal=j.jsonl', `journal is a report of run, not of this command; known: `],
  [CERTIFICATE_REPORTS, 'badge', 'badge needs a file: badge=handover.svg.'],
])('of %j refuses %s', (reports, flag, message) => {
  const error = { name: 'ConfigError', message: expect.stringContaining(`--report: ${message}`) }
  expect(() => parseReports(flag, reports as typeof RUN_REPORTS)).toThrow(expect.objectContaining(error))
})
