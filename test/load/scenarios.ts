/** Scenarios that may run many times at once. */
export const scenario = (name: string, steps: string, more = '') =>
  `version: 1\nname: ${name}\n${more}timeouts: { expect: 20s, settle: 50ms }\nsteps:\n${steps}`

export const HANDOVER = `  - press: handover
  - agent: accept
  - expect: start
  - user: $(text)
  - agent: { sees: $(text) }
  - agent: { says: Hello }
  - expect: { message: { message: Hello } }
  - agent: leave
  - expect: end
`
export const PLAIN = scenario('Plain', HANDOVER, 'vars: { text: Where is it? }\n')
