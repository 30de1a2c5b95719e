/** Reading a driver: its forms, and what is said about one that is wrong. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/base/files/errors.ts'
import { createDriver } from '../../src/running/agent-driver/create-driver.ts'
import { loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { folderWith } from '../config/folder.ts'
import { around, SIM } from './desk.ts'

const load = (name: string, content: string, more = {}) =>
  loadDriver(name, around({ cwd: folderWith({ [name]: content }), ...more }))

async function failure(...given: Parameters<typeof load>): Promise<string> {
  const error = await load(...given).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConfigError)
  return (error as ConfigError).message
}

const EXAMPLE = readFileSync(new URL('../../examples/intermediary/driver.yaml', import.meta.url), 'utf8')

/** Both as JSON and in a module. */
const VERBS = '"accept":{"exec":["./a.sh","$(chat.id)"],"timeout":"1m"},"leave":{"exec":["./b"]}}'

describe('the forms of a driver', () => {
  it('include the file of the example, with a target', async () => {
    const target =
      'target: { start: [node, main.js], env: { PORT: "3000" }, ready: http://127.0.0.1:3000/health, cwd: sub, stop_timeout: 1s }'
    const spec = await load('driver.yaml', `${EXAMPLE}\n${target}`)
    expect(Object.keys(spec.verbs)).toEqual(
      'accept says type stop leave away back inbox does.transfer does.announce'.split(' '),
    )
    expect(spec.verbs.says).toMatchObject({ method: 'POST', json: { text: '$(text)' }, headers: {}, timeoutMs: 5000 })
    expect(spec.target).toEqual({
      ...{ command: ['node', 'main.js'], env: { PORT: '3000' }, folder: `${spec.folder}/sub` },
      ...{ ready: 'http://127.0.0.1:3000/health', readyTimeoutMs: 15_000, stopTimeoutMs: 1000 },
    })
    const driver = createDriver(spec, { env: {}, sim: SIM })
    expect(driver.verbs.slice(-4)).toEqual(['start', 'stop', 'restart', 'kill'].map(verb => `target.${verb}`))
    await driver.close()
  })

  it.each([
    ['d.yml', 'timeout: 1.5s\naccept: { exec: [./a.sh, $(chat.id)], timeout: 1m }\nleave: { exec: [./b] }'],
    ['d.json', `{"version":1,"timeout":"1.5s",${VERBS}`],
    ['d.mjs', `export default { timeout: "1.5s", ${VERBS}`],
    ['d.ts', `const timeout: string = "1.5s"\nexport default { timeout, ${VERBS}`],
  ])('%s', async (name, content) => {
    expect((await load(name, content)).verbs).toEqual({
      accept: { kind: 'exec', command: ['./a.sh', '$(chat.id)'], timeoutMs: 60_000 },
      leave: { kind: 'exec', command: ['./b'], timeoutMs: 1500 },
    })
  })

  it('include functions of a module, named or default, with the keys of a file', async () => {
    const named = `export const http = 'http://127.0.0.1:1'
export const accept = async () => {}
export function inbox() { return [] }
export const leave = { POST: '/x' }
export const does = { transfer: async () => {}, announce: { POST: '/y' } }
export const target = { start: ['node', 'x.js'], ready: 'http://127.0.0.1:1/' }`
    const byDefault = `${named.replaceAll('export ', '')}
export default { http, accept, inbox, leave, does, target }
export const helper = 1`
    for (const [name, text] of Object.entries({ 'a.mjs': named, 'b.mjs': byDefault })) {
      const { verbs, target } = await load(name, text)
      const functions = Object.keys(verbs).filter(verb => verbs[verb]!.kind === 'function')
      expect(functions.sort()).toEqual(['accept', 'does.transfer', 'inbox'])
      expect(Object.keys(verbs)).toHaveLength(5)
      expect(target!.command).toEqual(['node', 'x.js'])
    }
  })

  it('include manual verbs, which are missing without a terminal', async () => {
    const text = 'accept: manual\nleave: { exec: [x] }'
    const without = await load('d.yaml', text)
    expect(Object.keys(without.verbs)).toEqual(['leave'])
    expect(without.needTerminal).toEqual(['accept'])
    expect(Object.keys((await load('d.yaml', text, { isTTY: true })).verbs)).toEqual(['accept', 'leave'])
  })
})

const HTTP = 'http: http://x\n'

describe('a problem of a driver', () => {
  it.each([
    ['acept: { POST: /x }', ':1:1: acept: is not a known key; did you mean accept?\n  1 | acept: { POST: /x }\n'],
    ['does:\n  go: { POST: /x, jsn: 1 }', ':2:19: does.go.jsn: is not a known key; did you mean json?'],
    ['accept: { json: {} }', ':1:9: accept: needs one of POST, GET, PUT, PATCH, DELETE, exec, or manual: such as'],
    [`${HTTP}accept: { POST: /a, exec: [x] }`, ':2:21: accept.exec: stands beside POST; a verb is one call or one'],
    ['accept: POST /a', ':1:9: accept: must be manual or an object, got the string "POST /a"'],
    ['accept: { POST: /a }', "accept.POST: needs the help desk's address"],
    [`${HTTP}accept: { POST: a }`, 'accept.POST: must begin with / or be an http or https address'],
    [`${HTTP}inbox: { GET: /a, json: 1 }`, 'inbox.json: cannot go with GET, which has no body.'],
    ['accept: { exec: [a], json: 1 }', 'accept.json: is for calls'],
    ['accept: { exec: [sleep, 5] }', 'accept.exec[1]: must be a string, got the number 5; write it in quotes'],
    ['timeout: 0s\naccept: { exec: [a] }', 'timeout: must be a duration such as'],
    ['http: localhost:3000', ':1:7: http: must be an http or https address such as'],
    ['inbox: manual', ':1:8: inbox: cannot be manual'],
    ['', ': says nothing: write at least one of accept, says'],
    ['target: { start: [x] }', ':1:9: target.ready: is required'],
    ['target: { start: [x], ready: http://x, env: { P: 3000 } }', 'target.env.P: must be a string, got the number'],
    ['accept: { exec: [a, $(chat.idd)] }', '$(chat.idd) is not known here; did you mean chat.id?'],
    ['away: { exec: [a, $(chat.id)] }', '$(chat.id) is not known here; there are sim.url, sim.api_key, sim.bot_id'],
    ['says: { POST: "http://x/", json: { a: [{ b: "x $(txt)" }] } }', 'says.json.a[0].b: $(txt) is not known here'],
    ['accept: { POST: "http://x/", headers: { a: $(sim.key) } }', 'accept.headers.a: $(sim.key) is not known here'],
    ['http: http://$(chat.id)\naccept: { POST: /x }', 'http: $(chat.id) is not known here; there are sim.url'],
  ])('%s', async (text, message) => {
    expect(await failure('d.yaml', text)).toContain(message)
  })

  it('is not reported for known names', async () => {
    const text = `does: { x: { exec: [a, $(team), "$(items[0].a)", $(text), $(chat.name), "$$(nothing)"] } }
says: { exec: [a, $(text), $(env.HOME), $(sim.url)] }`
    expect(Object.keys((await load('d.yaml', text)).verbs)).toEqual(['says', 'does.x'])
  })

  it('is reported with all others, in the order of the lines', async () => {
    const text = 'http: http://x\nleave: { POST: a }\ndoes:\n  b: { json: 1 }\naccept: { exec: [$(nope)] }'
    const places = (await failure('d.yaml', text)).match(/^d\.yaml:\d+/gm)
    expect(places).toEqual(['d.yaml:2', 'd.yaml:4', 'd.yaml:5'])
  })

  it('is reported for an unset variable when the driver is created', async () => {
    const text = 'http: http://127.0.0.1:1\naccept:\n  POST: /a\n  headers: { a: $(env.DESK_TOKEN) }'
    const spec = await load('d.yaml', text)
    const message =
      'd.yaml:4:17: accept.headers.a: reads the environment variable DESK_TOKEN, which is not set.\n  4 |   headers'
    expect(() => createDriver(spec, { env: {}, sim: SIM })).toThrow(message)
    await createDriver(spec, { env: { DESK_TOKEN: '' }, sim: SIM }).close()
  })

  it.each([
    ['d.toml', '', 'd.toml: a driver must end in .yaml, '],
    ['d.json', '{', 'd.json:1:2: is not valid JSON'],
    ['d.yaml', 'accept: [', 'd.yaml:1:'],
    ['d.yaml', '- a', 'd.yaml'],
    ['d.mjs', 'export default 5', 'd.mjs: must export its verbs, or default'],
    ['d.mjs', 'export const acept = () => {}', 'd.mjs: acept: is not a verb; did you mean accept?'],
    ['d.mjs', 'export const tiemout = "5s"', 'd.mjs: tiemout: is not a known key; did you mean timeout?'],
    ['d.mjs', 'export const says = 5', 'd.mjs: says: must be a function, manual or an object, got the number 5'],
    ['d.mjs', 'throw new Error("broken")', 'd.mjs: cannot be loaded: broken (line 1:7).'],
    ['d.mjs', 'export const target = () => {}', 'd.mjs: target: is not a verb'],
  ])('%s: %s', async (name, content, message) => {
    expect(await failure(name, content)).toContain(message)
  })

  it('is reported for a missing file, and for TypeScript on an older Node', async () => {
    const missing = loadDriver('none.yaml', around({ cwd: folderWith() }))
    await expect(missing).rejects.toThrow('none.yaml: cannot be read: there is no such file.')
    expect(await failure('d.ts', '', { nodeVersion: 'v20.19.0' })).toContain('d.ts: needs Node 22.18 or newer')
  })
})
