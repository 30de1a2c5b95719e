/** A driver that is served: from this machine, without commands and variables, and for calls to its own origin. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDriver } from '../../src/running/agent-driver/create-driver.ts'
import { loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { freePort } from '../support/port.ts'
import { around, context, never, openDesk, SIM } from './desk.ts'

const serving = (text: string, type = 'text/yaml', status = 200) =>
  openDesk(({ method }, response) => {
    if (method === 'POST') return void response.end('{}')
    response.writeHead(status, { 'content-type': type }).end(text)
  })

const load = (url: string, more = {}) => loadDriver(url, around(more))

describe('a driver at a URL', () => {
  it.each([
    ['accept: { POST: /a }', 'application/yaml', '/driver'],
    ['{ "accept": { "POST": "/a" } }', 'application/json; charset=utf-8', '/driver'],
    ['{ "accept": { "POST": "/a" } }', 'text/plain', '/driver.json'],
  ])('%s as %s calls where it came from', async (text, type, path) => {
    const desk = await serving(text, type)
    const driver = createDriver(await load(desk.url + path), { env: {}, sim: SIM })
    onTestFinished(() => driver.close())
    expect(driver.name).toBe(desk.url + path)
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'ok', how: `POST ${desk.url}/a` })
  })

  it('is reported with the place of each problem', async () => {
    const { url } = await serving('acept: { POST: /a }')
    await expect(load(`${url}/d.yaml`)).rejects.toThrow(`${url}/d.yaml:1:1: acept: is not a known key`)
    const json = await serving('{', 'application/json')
    await expect(load(json.url)).rejects.toThrow(`${json.url}:1:2: is not valid JSON`)
  })

  it('runs no command', async () => {
    const { url } = await serving('accept: { exec: [a] }\ntarget: { start: [a], ready: http://x }')
    await expect(load(url)).rejects.toThrow(/accept\.exec: is not run for a driver [\s\S]*target: is not started for/)
  })

  it.each([
    ['accept: { POST: "/a?$(env.HOME)" }', /accept\.POST: reads the environment variable HOME/],
    ['headers: { a: $(env.HOME) }\naccept: { POST: /a }', /headers\.a: reads the environment variable HOME/],
    ['accept: { POST: "http://127.0.0.1:1/take" }', /accept\.POST: must be an address of http:/],
    ['http: http://desk.example.test\naccept: { POST: /a }', /accept\.POST: must be an address of/],
    ['accept: { POST: "$(sim.url)/a" }', /accept\.POST: must be an address of/],
  ])('%j is refused', async (text, problem) => {
    const { url } = await serving(text)
    await expect(load(url)).rejects.toThrow(problem)
  })

  it('is not fetched from another machine unless allowed', async () => {
    const url = 'http://desk.example.test:1/driver.yaml'
    await expect(load(url)).rejects.toThrow(/is on another machine; .* or pass --allow-remote/)
    await expect(load('http://127.0.0.1.example.test/')).rejects.toThrow('is on another machine')
    await expect(load('http://', { allowRemote: true })).rejects.toThrow('http://: is not an http or https address.')
  })

  it('cannot be read', async () => {
    const { url } = await serving('accept: {}', 'text/yaml', 404)
    await expect(load(`${url}/d`)).rejects.toThrow(`${url}/d: cannot be read: the server answered 404.`)
    const port = await freePort()
    await expect(load(`http://127.0.0.1:${port}/d`)).rejects.toThrow('cannot be read: nothing listens at')
    const long = await serving(`# ${'x'.repeat(1_100_000)}`)
    await expect(load(`${long.url}/d`)).rejects.toThrow('cannot be read: it is longer than 1 MiB.')
  })
})
