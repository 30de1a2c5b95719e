/** Plays a handover with the CommonJS bundle in a context of its own, as jest loads it: without `import()`, with another `Error`. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Context, compileFunction, createContext, runInContext } from 'node:vm'
import { expect, it } from 'vitest'
import { ROOT } from './files.ts'

/** Creates a context like that of jest-environment-node: with the globals of Node, but its own `Error`, `Promise` and `Object`. */
function createJestContext(): Context {
  const context = createContext({ ArrayBuffer, Uint8Array })
  const own: string[] = runInContext('globalThis.global = globalThis; Object.getOwnPropertyNames(globalThis)', context)
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!own.includes(name)) context[name] = globalThis[name as keyof typeof globalThis]
  return context
}

/** Hides what jest-environment-jsdom hides: its `crypto` only draws random numbers. */
function hideGlobals(evaluate: (code: string) => unknown): void {
  evaluate('for (const name of ["TextEncoder", "TextDecoder", "Response", "setImmediate"]) delete globalThis[name]')
  evaluate('Object.defineProperty(globalThis, "crypto", { value: { randomUUID: crypto.randomUUID } })')
}

type Require = (specifier: string) => unknown

/** Returns a `require` for this package that evaluates its files in a new context. */
function requireInContext(): { load: Require; evaluate: (code: string) => unknown } {
  const context = createJestContext()
  const modules = new Map<string, { exports: object }>()
  const loadFile = (file: string): object => {
    const loaded = modules.get(file)
    if (loaded !== undefined) return loaded.exports
    const module = { exports: {} }
    modules.set(file, module)
    const names = ['module', 'exports', 'require', '__filename', '__dirname']
    const run = compileFunction(readFileSync(file, 'utf8'), names, { parsingContext: context, filename: file })
    run(module, module.exports, requireFrom(file), file, dirname(file))
    return module.exports
  }
  const requireFrom = (from: string) => (specifier: string) =>
    isBuiltin(specifier) ? createRequire(from)(specifier) : loadFile(createRequire(from).resolve(specifier))
  return { load: requireFrom(join(ROOT, 'package.json')), evaluate: code => runInContext(code, context) }
}

type Library = typeof import('../../src/index.ts')
type Interceptors = typeof import('../../src/testing/interceptors/interceptors.ts')
type Signature = typeof import('../../src/platform/signature/index.ts')
type Scenarios = typeof import('../../src/testing/scenario.ts')

it('plays a handover, with expectations, interceptors and a scenario', async () => {
  const { load, evaluate } = requireInContext()
  const { createSimulator, InvalidOptionError } = load('handover-sim') as Library
  const { intercept } = load('handover-sim/interceptors') as Interceptors
  const { defineScenario, expectCall, press, runScenario } = load('handover-sim/scenario') as Scenarios
  expect(() => createSimulator({ sed: 1 } as never)).toThrow(InvalidOptionError)
  expect(InvalidOptionError.prototype).not.toBeInstanceOf(Error)
  expect(InvalidOptionError.prototype).toBeInstanceOf(evaluate('Error'))

  const webhook = async (request: Request): Promise<Response> => {
    const { chat } = (await request.json()) as { chat: { id: string } }
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ bot_id: sim.botId, chat_id: chat.id, sender: { name: 'Anna' } })
    return fetch(`${sim.baseUrl}/api/v2/handover/start`, { method: 'POST', headers, body })
  }
  const sim = createSimulator({ webhook: { fetch: webhook } })
  using _ = intercept(sim)
  const ada = await sim.chat({ language: 'nb', transcript: 'nb-shop' })
  await ada.press('handover')
  expect((await ada.expectCall('start', { sender: { name: 'Anna' } })).status).toBe(200)
  await expect(ada.expectCall('end', {}, { within: '0s' })).rejects.toThrow(/end/)

  const run = await runScenario(sim, defineScenario({ name: 'Greeting' }, [press('handover'), expectCall('start')]))
  run.assertPassed()
})

it('recognizes errors, promises and bytes of Node', async () => {
  const { createSimulator } = requireInContext().load('handover-sim') as Library
  const sim = createSimulator({ webhook: { fetch: () => readFile('missing.txt').then(() => new Response('ok')) } })
  const ada = await sim.chat()
  const { ack } = await ada.says('A file', { attach: [{ name: 'a.txt', type: 'text/plain', bytes: Buffer.from('a') }] })
  expect(ack).toBeNull()
  const pressed = await ada.press('handover')
  expect(pressed.ack?.error).toContain("ENOENT: no such file or directory, open 'missing.txt'")
  await expect(ada.waitFor(() => readFile('missing.txt').catch(() => ''))).rejects.toThrow('returned a promise')
})

it('signs and verifies where jsdom hides globals of Node', async () => {
  const { load, evaluate } = requireInContext()
  hideGlobals(evaluate)
  expect(evaluate('typeof TextEncoder + typeof crypto.subtle')).toBe('undefinedundefined')
  const { explain, sign, verify, verifyRequest } = load('handover-sim/signature') as Signature
  const body = '{"message":"Hei 👋"}'
  const signature = await sign(body, 'sim-handover-key')
  expect(await verify(Buffer.from(body), { 'kindly-hmac': signature }, 'sim-handover-key')).toBe(true)
  expect((await explain(body, await sign(body, 'other'), 'sim-handover-key')).ok).toBe(false)
  const request = new Request('http://127.0.0.1/', { method: 'POST', body, headers: { 'kindly-hmac': signature } })
  expect(await verifyRequest(request, 'sim-handover-key')).toEqual({ ok: true, body })
})

it('the version for browsers names the setting of Jest where jsdom hides globals', async () => {
  const code = 'delete globalThis.TextDecoder; await import("handover-sim")'
  const args = ['--conditions=browser', '--input-type=module', '--eval', code]
  const failed = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch(({ stderr }) => stderr)
  expect(failed).toContain(
    "Set testEnvironmentOptions: { customExportConditions: ['node'] } in the configuration of Jest.",
  )
})

it('delivers events while the fake timers of jest replace microtasks', async () => {
  const { load, evaluate } = requireInContext()
  evaluate('globalThis.queueMicrotask = () => {}')
  const { createSimulator, fromNode } = load('handover-sim') as Library
  const sim = createSimulator({ webhook: fromNode((_, response) => void response.end()) })
  const { ack } = await (await sim.chat()).press('handover')
  expect(ack).toMatchObject({ status: 200 })
  await sim.close()
})
