/** Checks that each example of docs/reference/faults.md works. */

import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { startSimulator } from '../../src/index.ts'
import { Fault } from '../../src/platform/faults/schema.ts'
import { blocks, hasShell, read, runInShell } from '../docs/pages.ts'

const PAGE = read('docs/reference/faults.md')
const written = blocks(PAGE, 'yaml').flatMap(text => parse(text) as { fault: object }[])
const typed = blocks(PAGE, 'sh')
const bodies = typed.flatMap(text => /-d '(.*)'$/m.exec(text)?.[1] ?? []).map(text => JSON.parse(text))

test('each example is a valid fault, the same as a step and as a body', () => {
  expect(written.length).toBeGreaterThan(10)
  expect(bodies).toEqual(written.map(({ fault }) => fault))
  for (const { fault } of written) expect(Fault.safeParse(fault).error?.issues ?? [], JSON.stringify(fault)).toEqual([])
})

test.skipIf(!hasShell)('the commands of the page set and clear the faults (needs bash and curl)', async () => {
  await using server = await startSimulator({ port: 0 })
  const result = await runInShell(typed.slice(0, -1).join('\n'), { SIM: server.url })
  expect(result.code).toBe(0)
  expect(server.faults.list().map(({ name }) => name)).toEqual(bodies.map((_, index) => `fault-${index + 1}`))
  await runInShell(typed.at(-1)!, { SIM: server.url })
  expect(server.faults.list()).toEqual([])
})
