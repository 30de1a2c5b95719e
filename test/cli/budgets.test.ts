/** Hostile files: each ends soon, with one clear error at its place, exit code 2 and no stack trace. */

import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BUDGETS } from '../../src/base/files/budgets.ts'
import { type Files, folderOf } from '../scenario/format/written.ts'
import { runCommand } from './fake-io.ts'

async function inFolder(folder: string, argv: readonly string[]) {
  const { code, out, err } = await runCommand(argv, { cwd: folder })
  const text = out + err
  expect(text).not.toMatch(/Internal error|^ +at /m)
  return { code, text }
}

const validate = (files: Files, file = 'a.yaml') => inFolder(folderOf(files), ['validate', file])
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const scenario = (steps: string, head = '') => `version: 1\nname: A\n${head}steps:\n  - ${steps}\n  - expect: start\n`
const part = (steps: string) => `version: 1\nkind: partial\nsteps: [${steps}]\n`
const nest = (count: number, open: string, inner: string, close: string) =>
  open.repeat(count) + inner + close.repeat(count)

/** Each variable has the one before it twice. */
const doublingVariables = (first: string, twice: (name: string) => string) =>
  scenario(
    'press: handover',
    `vars:\n  v0: ${first}\n${times(40, at => `  v${at + 1}: ${twice(`$(v${at})`)}\n`).join('')}`,
  )

const repeat = (count: number, inner: string) =>
  scenario(nest(count, '{ repeat: { times: 1000, steps: [', inner, '] } }'))
const includes = (name: string, more: Files): Files => ({ 'a.yaml': scenario(`include: ${name}`), ...more })
const parts = (count: number, steps: (at: number) => string): Files =>
  Object.fromEntries(times(count, at => [`p${at}.yaml`, part(steps(at))]))
/** Each part includes the next one twice. */
const doubling = (count: number, last: string): Files =>
  parts(count, at => (at === count - 1 ? last : nest(2, `{ include: p${at + 1}.yaml }, `, '', '')))
const PRESS = '{ press: handover }'
const CHAIN = parts(100, at => `{ include: p${at + 1}.yaml }`)
const MANY = times(1001, at => `p${at}.yaml`).join('\n  - include: ')
const LONG = `repeat: { times: 9000, steps: [${PRESS}] }`
const VARIABLES = times(1001, at => `  v${at}: 1\n`).join('')
const TOO_MANY_STEPS = /^\w+\.yaml:\d:\d+: .*10000 steps/m
const TOO_MANY_ITEMS = /^\w+\.yaml:\d:\d+: .*unrolls to more than 50000/m
const TOO_LARGE = /^a\.yaml:3:1: vars: is too large with its \$\(\.\.\.\) filled in/
const SEVEN = times(12, at => `m${at}: [1, 2, 3, 4, 5, 6, 7]`).join(', ')

test.each<[string, string | Files, RegExp]>([
  ['nested repeats', repeat(7, PRESS), TOO_MANY_STEPS],
  ['nested repeats of nothing', repeat(7, ''), TOO_MANY_ITEMS],
  ['a huge repeat', scenario(`repeat: { times: 9007199254740991, steps: [${PRESS}] }`), TOO_MANY_STEPS],
  ['many users', scenario(`parallel: { users: 1000000000, steps: [${PRESS}] }`), TOO_MANY_STEPS],
  ['a large matrix', scenario('press: handover', `matrix: { ${SEVEN} }\n`), /^a\.yaml:3:1: matrix: .*; at most 1000/],
  ['a matrix of long scenarios', scenario(LONG, 'matrix: { m: [1, 2, 3, 4] }\n'), /all scenarios .* more than 30000/],
  ['doubling includes', includes('p0.yaml', doubling(25, PRESS)), TOO_MANY_STEPS],
  ['doubling includes of nothing', includes('p0.yaml', doubling(25, '')), TOO_MANY_ITEMS],
  ['a chain of includes', includes('p0.yaml', CHAIN), /^p31\.yaml:3:\d+: .* is included in more than 32 files/],
  [
    'many included files',
    includes(
      MANY,
      parts(1001, () => PRESS),
    ),
    /^a\.yaml:1004:\d+: .* at most 1000/,
  ],
  ['variables that double a text', doublingVariables('xxxxxxxx', name => name + name), TOO_LARGE],
  ['variables that double a value of the run', doublingVariables('$(env.X)', name => name + name), TOO_LARGE],
  ['many variables', scenario('press: handover', `vars:\n${VARIABLES}`), /^a\.yaml:3:1: .* 1001 names; at most 1000/],
])('a scenario with %s', async (_, written, message) => {
  const { code, text } = await validate(typeof written === 'string' ? { 'a.yaml': written } : written)
  expect([code, text]).toEqual([2, expect.stringMatching(message)])
})

const lines = (count: number, line: (at: number) => string) => `${times(count, line).join('\n')}\n`
/** `&a0 [x, ...]`, then lists of nine aliases of the list before. */
const laughs = lines(12, at => `a${at}: &a${at} [${times(9, () => (at === 0 ? 'x' : `*a${at - 1}`)).join(', ')}]`)

test.each<[string, string, RegExp]>([
  ['deep lists', nest(200_000, '[', '', ']'), /is nested too deep/],
  ['deep maps', nest(200_000, '{', '', ''), /is nested too deep/],
  ['brackets in texts', `a: [${Array(2_000).fill('"[{"').join(',')}]\nb: |\n  {`, /a: is not a known key/],
  ['deep lists of lines', '- '.repeat(20_000), /is nested too deep/],
  ['2,000 unknown keys', lines(2_000, at => `k${at}: 1`), /and \d+ more problems, not shown/],
  ['the same key 4,000 times', 'k: 1\n'.repeat(4_000), /:2:1: Map keys must be unique[\s\S]*and 3949 more problems/],
  ['aliases of aliases', laughs, /has too many aliases \(\*name\) of one anchor \(&name\), or aliases of aliases/],
  ['2,000 aliases', `a: &a 1\nb: [${Array(2_000).fill('*a').join(',')}]`, /has too many aliases/],
  ['a list in itself', 'steps: &s\n  - repeat: { times: 2, steps: *s }\n', /:2:\d+: \*s is inside of &s, so it would/],
  ['a map in itself', 'vars: &v { a: *v }\n', /:1:\d+: \*v is inside of &v/],
  ['a large comment', `#${'x'.repeat(BUDGETS.fileBytes)}`, /cannot be read: it has 4194305 bytes; at most 4194304/],
])('a file of any kind with %s', async (_, text, message) => {
  for (const name of ['a.yaml', 'driver.yaml', 'handover-sim.config.yaml']) {
    const { code, text: shown } = await validate({ [name]: text }, name)
    expect([code, shown]).toEqual([2, expect.stringMatching(message)])
    expect(shown).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')}: ?|${message.source}`))
    expect(shown.length).toBeLessThan(20_000)
  }
})

test.each<[string, string, RegExp, number | null]>([
  ['mistakes', `version: 1\nname: A\nsteps:\n${'  - wait: 5\n'.repeat(1_000)}`, /must be a duration/g, 50],
  ['undefined names', scenario(times(1_000, at => `user: $(n${at})`).join('\n  - ')), /is not defined/g, 50],
  ['documents with a mistake each', 'version: 1\nname: A\nstepz: []\n---\n'.repeat(999), /^a\S* stepz: /gm, null],
])('1,000 %s: the first ones and a count', async (_, written, mistake, expected) => {
  const { code, text } = await validate({ 'a.yaml': written })
  expect([code, text]).toEqual([2, expect.stringMatching(/^a\.yaml: and \d{3,4} more problems, not shown\.$/m)])
  const count = text.match(mistake)?.length ?? 0
  expect([count, count > 20]).toEqual([expected ?? count, true])
})

const HOSTILE = '{ toString: 1, valueOf: 2 }'

test.each<[string, string, RegExp]>([
  ['an object without toString', `base_url: ${HOSTILE}`, /base_url: must be an http or https URL .*got an object/],
  ['a list of a size', 'memory_limit: [64mb]', /memory_limit: must be a number of bytes/],
  ['hours without toString', `business_hours: { time_zone: UTC, mon: ${HOSTILE} }`, /mon: must be hours such as/],
  ['a URL with a space', 'base_url: "https://bot.example.test "', /base_url: must be an http or https URL/],
  ['a URL with half a character', 'webhook: { url: "http://127.0.0.1/\\ud800" }', /webhook\.url: must be/],
  ['an alias of a list as a key', 'webhook: &a []\n*a : 1', /\*a: is not a known key/],
])('a config file with %s', async (_, text, message) => {
  const { code, text: shown } = await validate({ 'handover-sim.config.yaml': text }, 'handover-sim.config.yaml')
  expect([code, shown]).toEqual([2, expect.stringMatching(message)])
})

test
  .skipIf(process.platform === 'win32')
  .each([
    'validate socket.yaml',
    'validate include.yaml',
    'validate socket.mjs --allow-modules',
    'run socket.yaml --dry-run',
    'config --config zero.yaml',
    'start --port 0 --import zero.json',
    'report zero.json',
  ])('sockets and devices are refused: %s', async line => {
  const folder = folderOf({ 'include.yaml': scenario('include: socket.yaml') })
  for (const name of ['socket.yaml', 'socket.json', 'socket.mjs']) {
    const server = createServer().listen(join(folder, name))
    onTestFinished(() => void server.close())
    await once(server, 'listening')
  }
  for (const name of ['zero.yaml', 'zero.json']) symlinkSync('/dev/zero', join(folder, name))
  const { code, text } = await inFolder(folder, line.split(' '))
  expect([code, text]).toEqual([2, expect.stringContaining('it is no regular file but a pipe, a device or a socket')])
})
