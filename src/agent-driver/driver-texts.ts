/** Texts of problems in agent driver files. Each follows the place of the problem. */
import { defineTexts } from '../text/texts.ts'

export const TEXTS = defineTexts({
  empty: (verbs: readonly string[]) => `says nothing: write at least one of ${verbs.join(', ')}, does, target`,
  scenario: 'this is a scenario and not an agent driver',
  manualInbox: 'cannot be manual, because it is read again and again; leave it out',
  remoteTarget: 'is not started for a driver read from a URL; keep the driver in a file',
  remoteCommand: 'is not run for a driver read from a URL; keep the driver in a file',
  unsetVariable: (name: string) => `reads the environment variable ${name}, which is not set`,
  noAction: (kinds: readonly string[]) =>
    `needs one of ${kinds.join(', ')}, or manual: such as { POST: "/desk/$(chat.id)/accept" } or ` +
    '{ exec: [./agent.sh, accept, $(chat.id)] }',
  twoActions: (other: string) => `stands beside ${other}; a verb is one call or one command`,
  onlyForCalls: 'is for calls; a command gets every field as JSON on stdin',
  bodyOfGet: 'cannot go with GET, which has no body',
  noAddress: (received: string) => `must begin with / or be an http or https address, got ${JSON.stringify(received)}`,
  noHelpDesk: (received: string) =>
    `needs the help desk's address: write http: http://127.0.0.1:3100 at the top, got ${JSON.stringify(received)}`,
  unknownName: (name: string, hint: string) => `$(${name}) is not known here${hint}`,
  knownNames: (names: readonly string[]) => `; there are ${names.join(', ')}`,
  parameters: 'the names under with',
  noVerbs: (received: string) =>
    `must export its verbs, or default { accept: async ({ chat }) => {} }, got ${received}`,
  unknownVerb: (hint: string) => `is not a verb${hint}`,
  knownVerbs: (verbs: readonly string[]) => `; there are ${verbs.join(', ')}, and your own under does`,
  extension: (extensions: readonly string[]) =>
    `a driver must end in ${extensions.join(', ')}, or be an http or https address`,
  notUrl: 'is not an http or https address',
  otherMachine: 'is on another machine; keep the driver in a file, or pass --allow-remote',
  unreadable: (why: string) => `cannot be read: ${why}`,
  status: (status: number) => `the server answered ${status}`,
  tooLong: 'it is longer than 1 MiB',
  timeout: 'no answer within 5s',
})
