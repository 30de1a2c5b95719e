/** Failures of several scenarios with one cause are gathered at the end of the reports. */
import { expect, it } from 'vitest'
import { callsAbout, runFiles, startTarget } from './targets.ts'

const scenario = (name: string, ...steps: string[]) =>
  `version: 1\nname: ${name}\ntimeouts: { expect: 30s, settle: 50ms }\nsteps:\n${steps.map(step => `  - ${step}\n`).join('')}`

const PRESS = 'press: handover'
const started = (times: number) => `expect: { start: {}, times: { min: ${times}, max: ${times} } }`

/** Their steps differ, and the one that fails has other numbers. */
const FILES = {
  'a.yaml': scenario('Ada', PRESS, 'expect: start'),
  'b.yaml': scenario('Bo', 'log: begin', PRESS, 'expect: start'),
  'c.yaml': scenario('Cy', PRESS, started(1)),
  'e.yaml': scenario('Ed', PRESS, started(2)),
  'f.yaml': scenario('Flo', PRESS, 'agent: accept', 'expect: start'),
  'g.yaml': scenario('Gus', PRESS, 'agent: leave', 'expect: end'),
}

it('causes of several scenarios are in all reports, with their scenarios and the details of two', async () => {
  const hasty = await startTarget(async (_, response, body) => {
    for (let count = body.event === ('REQUESTING TAKEOVER' as never) ? 2 : 0; count > 0; count--)
      await callsAbout(body)('start')
    response.end()
  })
  const { out, read, json } = await runFiles(FILES, hasty, '--report', 'html=r.html')
  // In the terminal they come before the scenarios.
  expect(out.indexOf('Causes')).toBeLessThan(out.indexOf('FAIL'))
  expect(out).toContain(
    'Causes\n' +
      '  one cause in 3 scenarios: `start` is called twice\n    Ada; Bo; Cy\n' +
      '  one cause in 2 scenarios: a step needs an agent driver, and there is none (--agent-driver FILE)\n    Flo; Gus\n',
  )
  const named = json.causes.map(({ code, scenarios }) => [code, ...scenarios.map(index => json.scenarios[index]!.name)])
  expect(named).toEqual([
    ['repeated', 'Ada', 'Bo', 'Cy'],
    ['no_driver', 'Flo', 'Gus'],
  ])
  expect(read('r.html')).toMatch(/>Causes<\/h2>[\s\S]*<code>start<\/code> is called twice[\s\S]*href="#ada"/)
  const [, ada = '', bo = '', cy = ''] =
    /(FAIL a\.yaml[\s\S]*)(FAIL b\.yaml[\s\S]*)(FAIL c\.yaml[\s\S]*)\nSlowest/.exec(out)!
  for (const block of [ada, bo]) expect(block).toContain('user / agent')
  expect(cy).toMatch(
    /^FAIL c\.yaml > Cy .*\n {2}x step 2: start was called twice, .*\n {4}c\.yaml:6:5 .*\n {2}the same/,
  )
  expect(cy).toMatch(/\n {2}the same cause as in Ada: details are in .*\n {2}rerun: npx handover-sim run c\.yaml .*\n/)
})
