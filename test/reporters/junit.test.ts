import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunReport } from '../../src/evaluation/evaluator/wording/report.ts'
import { element, junitReport as junitOf, xmlAttribute, xmlText } from '../../src/pages/reporters/junit.ts'
import { reportOfRun } from '../../src/pages/reporters/report-model.ts'
import { anyText, hostileResult } from './hostile.ts'
import { failure, result, scenarioResult } from './run-results.ts'
import { escapedPlay, openResult, passedResult, skippedResult, unreachableResult } from './samples.ts'
import { all, type Element, readXml } from './xml-checker.ts'

const junitReport = (run: RunReport): string => junitOf(reportOfRun(run))

const RUN = result([passedResult(), escapedPlay(), openResult(), unreachableResult(), skippedResult()])
const root = readXml(junitReport(RUN))
const caseOf = (name: string, from: Element = root) =>
  all(from, 'testcase').find(({ attributes }) => attributes.name === name)!

describe('the document', () => {
  it('has consistent counts', () => {
    const { tests, failures, errors, skipped, time, timestamp } = root.attributes
    expect({ tests, failures, errors, skipped, time, timestamp }).toEqual({
      tests: '5',
      failures: '1',
      errors: '1',
      skipped: '2',
      time: '7.040',
      timestamp: '2026-03-01T10:00:00',
    })
    for (const name of ['failures', 'errors', 'skipped', 'tests'])
      expect(all(root, 'testsuite').reduce((sum, suite) => sum + Number(suite.attributes[name]), 0)).toBe(
        Number(root.attributes[name]),
      )
  })

  it('has a suite for each file, in order, and a case for each scenario', () => {
    const scenarios = [
      scenarioResult(),
      scenarioResult({ file: 'b.yaml', name: 'Other' }),
      scenarioResult({ instance: 2 }),
    ]
    const suites = all(readXml(junitReport(result(scenarios))), 'testsuite')
    expect(
      suites.map(suite => [suite.attributes.name, all(suite, 'testcase').map(one => one.attributes.name)]),
    ).toEqual([
      ['scenarios/happy.yaml', ['Happy path', 'Happy path #2']],
      ['b.yaml', ['Other']],
    ])
  })

  it('is valid for an empty run', () => {
    expect(readXml(junitReport(result([]))).attributes.tests).toBe('0')
  })
})

describe('a case', () => {
  it('of a failure has the cause as message and the timeline as text', () => {
    const failed = caseOf('Happy path')
    const [found] = all(failed, 'failure')
    expect(found!.attributes).toEqual({
      message: `step 7: nearest: #12, message differs (only HTML escaping)`,
      type: 'expect',
    })
    expect(found!.text).toContain(`message  - "I'm Anna"   + "I&#39;m Anna"   only HTML escaping differs`)
    expect(found!.text).toMatch(/^x \+0\.84 +main +#12 +<-+ POST message "I&#39;m Anna"/m)
    expect(failed.attributes).toMatchObject({ classname: 'scenarios.happy', file: 'scenarios/happy.yaml', line: '2' })
  })

  it('has the command that reruns it', () => {
    const properties = all(caseOf('Happy path'), 'property').map(({ attributes: { name, value } }) => [name, value])
    expect(Object.fromEntries(properties)).toEqual({
      seed: '1',
      clock: 'real',
      tags: 'smoke',
      spec: 'E4',
      rerun: 'npx handover-sim run scenarios/happy.yaml --seed 1',
    })
  })

  it('of an inconclusive scenario does not pass', () => {
    const kind = (name: string) => caseOf(name).children.map(child => [child.name, child.attributes.message])
    expect(kind('Short and good').map(([name]) => name)).toEqual(['properties'])
    expect(kind('With an agent')[1]).toEqual(['skipped', 'inconclusive: the agent driver has no verb "transfer"'])
    expect(kind('Later')[1]).toEqual(['skipped', 'not tagged smoke'])
    expect(kind('No desk')[1]).toEqual(['error', 'the help desk is not there: connection refused at 127.0.0.1:3100'])
  })

  it('of failures outside of scenarios is added', () => {
    const failures = [failure({ kind: 'unexpected', happened: 'a call for chat "nobody"' })]
    const outside = readXml(junitReport(result([passedResult()], { failures })))
    expect(outside.attributes).toMatchObject({ tests: '2', failures: '1' })
    expect(all(caseOf('outside every scenario', outside), 'failure')[0]!.attributes.message).toBe(
      'a call for chat "nobody" (expected: expect message)',
    )
  })
})

describe('for any texts', () => {
  it('the document is well-formed', () => {
    fc.assert(
      fc.property(anyText, text => {
        const run = result([hostileResult(text), hostileResult(text, 'error'), hostileResult(text, 'skipped')], {
          failures: [failure({ happened: text, expected: text })],
        })
        expect(all(readXml(junitReport(run)), 'testcase')).toHaveLength(4)
      }),
    )
  })

  it('valid text is preserved', () => {
    const legal = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\t', '\n', '\r', '<', '&', '"', "'", ']', '>', '😀'),
        fc.string({ minLength: 1, maxLength: 1 }),
      ),
    })
    fc.assert(
      fc.property(legal, text => {
        const source = element('a', { b: text }, [xmlText(text)])
        const { attributes, text: read } = readXml(`<?xml version="1.0" encoding="UTF-8"?>${source}`)
        expect([attributes.b, read]).toEqual([text, text])
      }),
    )
  })

  it('characters that XML cannot contain are replaced', () => {
    expect(xmlText('\u0000a\ufffe\ud800b😀')).toBe('\ufffda\ufffd\ufffdb😀')
    expect(xmlAttribute('a\nb')).toBe('a&#10;b')
  })
})

describe('the checker itself', () => {
  it.each([
    '<a>',
    '<a></b>',
    '<a b="1" b="2"/>',
    '<a>&</a>',
    '<a>&nope;</a>',
    '<a>]]></a>',
    '<a b="<"/>',
    '<a/><b/>',
    '<a>\u0001</a>',
    '<a>&#0;</a>',
  ])('refuses %s', source => {
    expect(() => readXml(`<?xml version="1.0" encoding="UTF-8"?>${source}`)).toThrow()
  })
})
