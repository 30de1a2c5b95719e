import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { VERSION } from '../../src/platform/contract/version.ts'
import { folderWith } from '../config/folder.ts'
import { type Env, fakeIo, started } from './fake-io.ts'

async function result(argv: string[], env: Env = {}, files: Parameters<typeof folderWith>[0] = {}) {
  const io = fakeIo(folderWith(files))
  const code = await main(argv, env, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

const post = async (url: string, body: unknown) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Record<string, string>
}

describe('usage', () => {
  it.each([
    [['start', '--prot', '1'], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [
      ['start', '--webhook', 'http://127.0.0.1:1/'],
      /unknown option '--webhook'\n\(Did you mean --webhook-url\?\)\n\(--help/,
    ],
    [['start', '--webhook=http://127.0.0.1:1/'], /unknown option '--webhook=.*'\n\(Did you mean --webhook-url\?\)/],
    [['start', '--xyzzy'], /unknown option '--xyzzy'\n\(--help/],
    [['strat'], /unknown command 'strat'\n\(Did you mean start\?\)/],
    [
      ['start', '--output', 'loud'],
      /--output <style>' argument 'loud' is invalid\. Allowed choices are pretty, compact/,
    ],
    [['start', 'now'], /too many arguments/],
    [['start', '--port'], /option '--port <number>' argument missing/],
    [['start', '--port', '99999'], /^--port: must be a whole number from 0 to 65535 .*, got "99999"\.\n$/],
    [['start', '--demo', '--webhook-url', 'http://x.example.test/'], /^--demo brings its own webhook: .*\n$/],
    [['start', '--demo', '--agent-driver', 'driver.yaml'], /^--demo brings its own help desk: .*\n$/],
    [['start', '--open', '--no-inspector'], /^--open opens the page: leave out --no-inspector\.\n$/],
    [
      ['start', '--agent-driver', 'nothing.yaml', '--port', '0'],
      /^nothing\.yaml: cannot be read: there is no such file/,
    ],
    [['start', '--config', 'nothing.yaml'], /^nothing\.yaml: cannot be read: there is no such file\.\n$/],
    [['wait', '--timeout', '5'], /^--timeout: must be a duration such as 500ms, 30s, 2m, got "5"\.\n$/],
    [['wait', '--url', 'localhost'], /^--url: must be an http or https URL .*, got "localhost"\.\n$/],
    [['wait', '--port', '0'], /^--url or --ready-file is needed: the configured port is 0, which may be any\.\n$/],
    [[], /Usage: handover-sim/],
  ])('%j: exit 2, on stderr', async (argv, message) => {
    const { code, out, err } = await result(argv)
    expect(err).toMatch(message)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  it('says what to begin with in eight lines when a person types the name alone', async () => {
    const io = fakeIo(folderWith(), true)
    expect(await main([], {}, io)).toBe(0)
    expect(io.stdout.lines.length).toBeLessThanOrEqual(8)
    expect(io.stdout.text.match(/npx handover-sim (start|run) --?\S+/g)).toHaveLength(3)
    // A program that calls it without a command has made a mistake.
    expect((await result([])).code).toBe(2)
  })

  it('prints help and version on stdout and exits with 0', async () => {
    expect(await result(['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' })
    expect(await result(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('start'), err: '' })
    expect(await result(['start', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--ready-file') })
    expect(await result(['help', 'start'])).toMatchObject({ code: 0, out: expect.stringContaining('--ready-file') })
  })
})

describe('start', () => {
  it('prints exactly one line on stdout, and stops with 130', async () => {
    const { io, url, stop } = await started()
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
    await io.stderr.until(/handover {2}/)
    expect(await stop()).toBe(130)
    expect(io.stdout.text).toBe(`Ready: ${url}\n`)
    await expect(fetch(`${url}/_sim/readyz`)).rejects.toThrow()
  })

  it('stops with 143 on SIGTERM', async () => {
    const { io, code } = await started()
    io.signal('SIGTERM')
    expect(await code).toBe(143)
  })

  it('stops at once at the second signal', async () => {
    const { io, code } = await started()
    io.signal('SIGINT')
    io.signal('SIGINT')
    expect(io.exits).toEqual([130])
    await code
  })

  it('prints complete commands to try next, and they work', async () => {
    const { io, url, stop } = await started()
    const text = await io.stderr.until(/handover {2}/)
    expect(text.replaceAll(url, 'URL')).toMatchInlineSnapshot(`
      "  page      URL/
        keys      keys.handover, keys.bot; to see them: npx handover-sim config --show-keys
        webhook   none: events go nowhere. Set it with --webhook-url URL, or try --demo
        a chat    curl -s URL/_sim/chats -H 'content-type: application/json' -d '{}'
        handover  curl -s URL/_sim/chats/CHAT_ID/press -H 'content-type: application/json' -d '{"button":"handover"}'
      "
    `)
    const { chat_id } = await post(`${url}/_sim/chats`, {})
    await post(`${url}/_sim/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
    await io.stderr.until(/REQUESTING TAKEOVER\n +not sent +no webhook URL is set/)
    await stop()
  })

  it('shows traffic on stderr only', async () => {
    const { io, url, stop } = await started(['--output', 'compact'])
    await fetch(`${url}/api/v2/handover/strat`, { method: 'POST' })
    await io.stderr.until(/POST \/api\/v2\/handover\/strat: 404 path_not_found/)
    await stop()
    expect(io.stdout.lines).toHaveLength(1)
  })

  it('--json prints one JSON value per line: the documented ready line, then entries with masked keys', async () => {
    const { io, url, stop } = await started([
      '--json',
      '--webhook-url',
      'http://127.0.0.1:9/webhook',
      '--api-key',
      'my-secret',
    ])
    await fetch(`${url}/api/v1/chats/x`, { headers: { authorization: 'Bearer my-secret' } })
    await io.stdout.until(/\n.*\n/)
    await stop()
    const [ready, ...entries] = io.stdout.lines.map(line => JSON.parse(line) as Record<string, unknown>)
    expect(ready).toEqual({
      v: 1,
      type: 'ready',
      url,
      inspectorUrl: `${url}/`,
      webhookUrl: 'http://127.0.0.1:9/webhook',
      apiKey: 'my-secret',
      botApiKey: 'sim-bot-key',
      botId: 1042,
      pid: process.pid,
    })
    expect(entries[0]).toMatchObject({ v: 1, type: 'entry', kind: 'api', status: 403 })
    expect(JSON.stringify(entries)).not.toContain('my-secret')
    expect(io.stderr.text).toBe('')
  })

  it('--ready-file contains the ready line while the simulator serves', async () => {
    const io = fakeIo(folderWith())
    const { url, stop } = await started(['--ready-file', 'ready.json'], {}, io)
    const file = join(io.cwd, 'ready.json')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ v: 1, type: 'ready', url })
    await stop()
    expect(existsSync(file)).toBe(false)
  })

  it('--ready-file follows no link that another user planted for its draft, and is for its owner alone', async () => {
    const io = fakeIo(folderWith({ victim: 'mine' }))
    const file = join(io.cwd, 'ready.json')
    for (const name of [`ready.json.${process.pid}.tmp`, `.ready.json.${process.pid}.tmp`])
      symlinkSync(join(io.cwd, 'victim'), join(io.cwd, name))
    const { stop } = await started(['--ready-file', 'ready.json'], {}, io)
    expect(readFileSync(join(io.cwd, 'victim'), 'utf8')).toBe('mine')
    expect([lstatSync(file).isSymbolicLink(), lstatSync(file).mode & 0o777]).toEqual([false, 0o600])
    // Nothing is left of the draft.
    expect(readdirSync(io.cwd).filter(name => name.includes('ready'))).toHaveLength(3)
    await stop()
  })

  it('--ready-file in a missing folder exits with 2 and frees the port', async () => {
    const { io, code } = await started(['--ready-file', 'no/where.json'])
    expect(await code).toBe(2)
    expect(io.stderr.text).toMatch(/^--ready-file: cannot write "no\/where\.json": /)
    expect(io.stdout.text).toBe('')
  })

  it('exits with 3 and prints one line when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise(resolve => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { code, out, err } = await result(['start', '--port', String(port)])
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(new RegExp(`^Failed to listen on 127\\.0\\.0\\.1:${port}: the port is in use.*\\n$`))
  })

  it('reads the config file of the folder', async () => {
    const io = fakeIo(folderWith({ 'handover-sim.config.yaml': 'bot: { id: 77 }\nknobs: { bot.delay: 1s }' }))
    const { stop } = await started(['--json'], {}, io)
    expect(JSON.parse(io.stdout.lines[0]!)).toMatchObject({ botId: 77 })
    await stop()
  })

  it('warns when other machines can reach it, and gives the token its control API asks for', async () => {
    const io = fakeIo(folderWith())
    const code = main(['start', '--port', '0', '--host', '0.0.0.0'], {}, io)
    const text = await io.stderr.until(/handover {2}/)
    expect(text).toContain('Warning: listening on 0.0.0.0, so other machines can reach this simulator')
    expect(text).toMatch(/-H 'authorization: Bearer [\w-]{20,}'/)
    io.signal('SIGINT')
    await code
  })

  it('quiet prints nothing while all calls succeed', async () => {
    const { io, url, stop } = await started(['--output', 'quiet'])
    await post(`${url}/_sim/chats`, {})
    await stop()
    expect(io.stderr.text).toBe('')
  })

  it.each<[Env, boolean, boolean]>([
    [{}, false, false],
    [{}, true, true],
    [{ NO_COLOR: '1' }, true, false],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ CLICOLOR_FORCE: '1' }, false, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ CI: 'true' }, false, false],
  ])('colour with %j and a terminal %s: %s', async (env, isTTY, coloured) => {
    const { io, url, stop } = await started(['--output', 'quiet'], env, fakeIo(folderWith(), isTTY))
    await fetch(`${url}/nothing`)
    expect((await io.stderr.until(/404/)).includes('\u001b[')).toBe(coloured)
    await stop()
  })
})

describe('start --demo', () => {
  it('plays a handover with the reference intermediary and leaves no process behind', async () => {
    const { io, url, stop } = await started(['--demo'])
    const { chat_id } = await post(`${url}/_sim/chats`, {})
    await post(`${url}/_sim/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
    const text = await io.stderr.until(/answer 200.*/)
    const webhook = /webhook {3}(http:\S+)\/webhook/.exec(text)![1]!
    expect(await stop()).toBe(130)
    await expect(fetch(webhook)).rejects.toThrow()
  })
})

describe('config', () => {
  it('prints every setting with its origin; keys are masked, other than the published ones', async () => {
    const files = { 'handover-sim.config.yaml': '# mine\nknobs:\n  typing.webhook: off\n' }
    const { code, out } = await result(
      ['config', '--seed', '9'],
      { HANDOVER_SIM_PORT: '80', HANDOVER_SIM_API_KEY: 'hidden' },
      files,
    )
    const rows = Object.fromEntries(out.split('\n').map(line => [line.split(/ {2,}/)[0], line.split(/ {2,}/).slice(1)]))
    expect(code).toBe(0)
    expect(rows).toMatchObject({
      port: ['80', 'HANDOVER_SIM_PORT'],
      seed: ['9', '--seed'],
      'typing.webhook': ['off', 'handover-sim.config.yaml:3'],
      'keys.handover': ['***', 'HANDOVER_SIM_API_KEY'],
      'keys.bot': ['sim-bot-key', 'default'],
      'bot.id': ['1042', 'default'],
      'webhook.retry': ['off', 'default'],
    })
    expect(out).not.toContain('hidden')
  })

  it('prints JSON with --json, and the keys with --show-keys', async () => {
    const { out } = await result(['config', '--json', '--show-keys'], { HANDOVER_SIM_API_KEY: 'shown' })
    const { v, type, settings } = JSON.parse(out) as { v: number; type: string; settings: Record<string, unknown> }
    expect({ v, type }).toEqual({ v: 1, type: 'config' })
    expect(settings['keys.handover']).toEqual({ value: 'shown', from: 'HANDOVER_SIM_API_KEY' })
  })
})

describe('openapi', () => {
  it('prints the document of the platform, or of the control API', async () => {
    const document = async (...flags: string[]) =>
      JSON.parse((await result(['openapi', ...flags])).out) as {
        openapi: string
        paths: object
        servers: { url: string }[]
      }
    const platform = await document('--base-url', 'https://bot.example.test')
    expect(platform).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://bot.example.test' }] })
    expect(Object.keys(platform.paths)).toContain('/api/v2/handover/start')
    expect(Object.keys((await document('--control')).paths).some(path => path.includes('chats'))).toBe(true)
  })
})

describe('wait', () => {
  it('ends with 0 when a simulator is ready', async () => {
    const { url, stop } = await started()
    expect(await result(['wait', '--url', url])).toEqual({ code: 0, out: `Ready: ${url}\n`, err: '' })
    expect(await result(['wait'], { HANDOVER_SIM_URL: url })).toMatchObject({ code: 0 })
    expect(await result(['wait', '--port', url.split(':')[2]!])).toMatchObject({ code: 0 })
    await stop()
  })

  it('ends with 3 after the timeout and prints the reason', async () => {
    const { url, stop } = await started()
    await stop()
    const { code, err } = await result(['wait', '--url', url, '--timeout', '150ms'])
    expect({ code, err }).toEqual({
      code: 3,
      err: `${url} is not ready after 150ms: nothing listens at ${new URL(url).host} (ECONNREFUSED).\n`,
    })
  })
})
