/** Checks that the clients for tests in other languages call the control API as its OpenAPI document says. */
import { expect, it } from 'vitest'
import { controlOpenApi } from '../../src/server/control/openapi.ts'
import { read } from '../docs/pages.ts'

/** What tests need, as the document names it. */
const OPERATIONS = [
  ...['createChat', 'getChat', 'say', 'press', 'actAsAgent', 'readInbox', 'waitFor', 'getJournal', 'trigger'],
  ...['patchConfig', 'setAvailability', 'setFault', 'clearFaults', 'advanceClock', 'settle', 'reset'],
]

/** Each operation as `[name, method, path]`, with the parameters of its path as parts of it. */
function expectedCalls(): string[][] {
  const calls: string[][] = []
  const paths = controlOpenApi().paths as Record<string, Record<string, { readonly operationId?: string }>>
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId = '' }] of Object.entries(methods))
      if (OPERATIONS.includes(operationId))
        calls.push([operationId.toLowerCase(), method.toUpperCase(), path.replace('/_sim', '').replace(/[{}]/g, '')])
  return calls.sort()
}

/** The beginning of a method in any of the languages, with its name; the method and the address that it calls. */
const CALL =
  /(?:def|function|\*Sim\)|JsonNode>?) (\w+)(?:\([^()\n]*\))?[^\n(]*\n?[^\n(]*call\(["']([A-Z]+)["'], ([^,\n]*)/gi

/** The same of a client, without what its language needs to write them. */
const callsOf = (client: string): string[][] =>
  [...client.matchAll(CALL)]
    .map(([, name = '', method = '', address = '']) => {
      const path = address.replace(/^[^/]*/, '').replace(/url\.PathEscape|quote|[^\w/]/g, '')
      return [name.replaceAll('_', '').toLowerCase(), method, path]
    })
    .sort()

it.each([
  'pytest/handover_sim.py',
  'rspec/handover_sim.rb',
  'phpunit/HandoverSim.php',
  'go-test/handoversim.go',
  'junit/HandoverSim.java',
  'xunit/HandoverSim.cs',
])('examples/%s has every operation', file => {
  expect(callsOf(read(`examples/${file}`))).toEqual(expectedCalls())
})
