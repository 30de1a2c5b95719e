/** The judge's advice is written for scenario files: the same advice for a test in code. */
import type { Failure } from '../evaluator/verdict.ts'

/** Each is found in the judge's own words; a test looks for them there. */
export const IN_CODE: readonly (readonly [written: string, apiWording: string])[] = [
  [
    'Allow more with within:, or with timeouts: { expect: … } for the whole scenario.',
    "Allow more with { within: '5s' }.",
  ],
  [
    'Where the order does not matter, put them into one all: [ … ].',
    'Where the order does not matter, expect them side by side: await Promise.all([ … ]).',
  ],
  [
    'A step looks at calls since the first stimulus of its turn. since: ID looks further back.',
    'An expectation looks from the first thing the user did after the last one. { since } looks further back.',
  ],
  ['is --target its webhook?', 'is webhook.url its webhook?'],
  ['Is --target the address of the webhook, path included?', 'Is webhook.url the whole address of the webhook?'],
  ['allow it with strict: { allow: [', 'allow it with assertClean({ allow: ['],
  ['made no call for this scenario', 'made no call at all'],
  ['is no chat of this scenario', 'is no chat of this simulator'],
  ['no step expects it', 'nothing expects it'],
  ['a step for every call', 'an expectation for every call'],
]

export function apiWording(failure: Failure): Failure {
  const { wanted, happened, nearest, hint } = failure
  return {
    ...failure,
    wanted: retold(wanted),
    happened: retold(happened),
    nearest: nearest.map(miss => ({ ...miss, why: retold(miss.why) })),
    ...(hint === undefined ? {} : { hint: retold(hint) }),
  }
}

const retold = (text: string): string =>
  IN_CODE.reduce((reworded, [written, code]) => reworded.replace(written, code), text).replace(
    /(assertClean\(\{ allow: \[)(\w+)\] \}/,
    "$1'$2'] })",
  )
