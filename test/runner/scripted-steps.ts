/** Defines steps that tests share: a takeover, and commands for the scripted intermediary. */

/** Its own limit, so that scenarios can have a short one for the step that fails. */
export const TAKEN = `
- press: handover
- agent: accept
- expect: { start: {}, within: 30s }
`

/** The head of a scenario with a step that fails because nothing happens. */
export const SOON = 'timeouts: { expect: 100ms, settle: 50ms }'

/** The intermediary makes these calls: `{ after: 100, start: {} }`. */
export const calls = (...list: string[]): string => `- agent: { does: calls, with: { list: [${list.join(', ')}] } }\n`

/** The intermediary answers its next webhooks like this: `{ status: 500 }`. */
export const answers = (...list: string[]): string =>
  `- agent: { does: answers, with: { list: [${list.join(', ')}] } }\n`

export const HI = '{ message: { message: Hi } }'
