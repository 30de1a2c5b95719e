/** `start`, `wait`, `config` and `openapi` in this process. */
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { type Env, fakeIo, runCommand, started } from './fake-io.ts'

const post = async (url: string, body: unknown) => {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return (await response.json()) as Record<string, string>
}

describe('start', () => {
  it('prints exactly one line on stdout, and stops with 130', async () => {
    const { io, url, stop } = await started()
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
    expect(await stop()).toBe(130)
    expect(io.stdout.text).toBe(`Ready: ${url}\n`)
    await expect(fetch(`${url}/_sim/readyz`)).rejects.toThrow()
  })

  it('stops with 143 on SIGTERM, and at once at the second signal', async () => {
    const first = await started()
    first.io.signal('SIGTERM')
    expect(await first.code).toBe(143)
    const second = await started()
    second.io.signal('SIGINT')
    second.io.signal('SIGINT')
    expect(second.io.exits).toEqual([130])
    await second.code
  })

  it('prints complete commands to try next, and they work', async () => {
    const { io, url, stop } = await started()
    const text = await io.stderr.until(/handover {2}/)
    expect(text).toContain(`a chat    curl -s ${url}/_sim/chats -H 'content-type: application/json' -d '{}'`)
    expect(text).toMatch(/handover {2}curl -s \S+\/chats\/CHAT_ID\/press -H '.*' -d '\{"button":"handover"\}'/)
    const { chat_id } = await post(`${url}/_sim/chats`, {})
    await post(`${url}/_sim/chats/${chat_id}/press?wait=ack`, { button: 'handover' })
    await io.stderr.until(/REQUESTING TAKEOVER\n +not sent +no webhook URL is set/)
    await stop()
  })

  it('--json prints one JSON value per line: the documented ready line, then entries with masked keys', async () => {
    const webhookUrl = 'http://127.0.0.1:9/webhook'
    const { io, url, stop } = await started(['--json', '--webhook-url', webhookUrl, '--api-key', 'my-secret'])
    await fetch(`${url}/api/v1/chats/x`, { headers: { authorization: 'Bearer my-secret' } })
    await io.stdout.until(/\n.*\n/)
    await stop()
    const [ready, ...entries] = io.stdout.lines.map(line => JSON.parse(line) as Record<string, unknown>)
    const keys = { apiKey: 'my-secret', botApiKey: 'sim-bot-key', botId: 1042, pid: process.pid }
    expect(ready).toEqual({ v: 1, type: 'ready', url, inspectorUrl: `${url}/`, webhookUrl, ...keys })
    expect(entries[0]).toMatchObject({ v: 1, type: 'entry', kind: 'api', status: 403 })
    expect(JSON.stringify(entries)).not.toContain('my-secret')
    expect(io.stderr.text).toBe('')
  })

  it('--ready-file is there while the simulator serves, for its owner alone, and follows no planted link', async () => {
    const io = fakeIo(folderWith({ victim: 'mine' }))
    const file = join(io.cwd, 'ready.json')
    const drafts = [`ready.json.${process.pid}.tmp`, `.ready.json.${process.pid}.tmp`]
    for (const name of drafts) symlinkSync(join(io.cwd, 'victim'), join(io.cwd, name))
    const { url, stop } = await started(['--ready-file', 'ready.json'], {}, io)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ v: 1, type: 'ready', url })
    expect(readFileSync(join(io.cwd, 'victim'), 'utf8')).toBe('mine')
    expect([lstatSync(file).isSymbolicLink(), lstatSync(file).mode & 0o777]).toEqual([false, 0o600])
    // Nothing is left of the draft.
    expect(readdirSync(io.cwd).filter(name => name.includes('ready'))).toHaveLength(3)
    await stop()
    expect(existsSync(file)).toBe(false)
  })

  it.each(['start', 'proxy --upstream https://bot.example.test --webhook-url http://127.0.0.1:9/'])(
    '%s exits with 3 and one line when the port is in use',
    async line => {
      const other = createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
      onTestFinished(() => void other.close())
      await new Promise(resolve => other.once('listening', resolve))
      const { port } = other.address() as AddressInfo
      const { code, out, err } = await runCommand([...line.split(' '), '--port', String(port)])
      expect({ code, out }).toEqual({ code: 3, out: '' })
      expect(err).toMatch(new RegExp(`^Failed to listen on 127\\.0\\.0\\.1:${port}: the port is in use.*\\n$`))
    },
  )

  it('exits with 3 when another simulator has the port, and says what to do', async () => {
    const { url } = await started()
    const { port } = new URL(url)
    for (const [command, way] of Object.entries({ start: `stop --port ${port}`, mcp: `use --url ${url}.` })) {
      const { code, err } = await runCommand([command, '--port', port])
      expect([code, err]).toEqual([3, expect.stringContaining('the port is in use by another handover-sim')])
      expect(err).toContain(way)
    }
  })

  it('warns when other machines can reach it, and gives the token its control API asks for', async () => {
    const { io, stop } = await started(['--host', '0.0.0.0'])
    const text = await io.stderr.until(/handover {2}/)
    expect(text).toContain('Warning: listening on 0.0.0.0, so other machines can reach this simulator')
    expect(text).toMatch(/-H 'authorization: Bearer [\w-]{20,}'/)
    await stop()
  })

  it.each<[Env, boolean, boolean]>([
    [{}, false, false],
    [{}, true, true],
    [{ TERM: 'dumb' }, true, false],
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

describe('config', () => {
  it('prints every setting with its origin; keys are masked, other than the published ones', async () => {
    const files = { 'handover-sim.config.yaml': '# mine\nknobs:\n  typing.webhook: off\n' }
    const env = { HANDOVER_SIM_PORT: '80', HANDOVER_SIM_API_KEY: 'hidden' }
    const { code, out } = await runCommand(['config', '--seed', '9'], { env, files })
    const rows = Object.fromEntries(out.split('\n').map(line => [line.split(/ {2,}/)[0], line.split(/ {2,}/).slice(1)]))
    expect(code).toBe(0)
    expect(rows).toMatchObject({
      port: ['80', 'HANDOVER_SIM_PORT'],
      seed: ['9', '--seed'],
      'typing.webhook': ['off', 'handover-sim.config.yaml:3'],
      'keys.handover': ['***', 'HANDOVER_SIM_API_KEY'],
      'keys.bot': ['sim-bot-key', 'default'],
    })
    expect(out).not.toContain('hidden')
    const json = await runCommand(['config', '--json', '--show-keys'], { env })
    const shown = { value: 'hidden', from: 'HANDOVER_SIM_API_KEY' }
    expect(JSON.parse(json.out)).toMatchObject({ v: 1, type: 'config', settings: { 'keys.handover': shown } })
  })
})

it('openapi prints the document of the platform, or of the control API', async () => {
  const document = async (...flags: string[]) => JSON.parse((await runCommand(['openapi', ...flags])).out)
  const platform = await document('--base-url', 'https://bot.example.test')
  expect(platform).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://bot.example.test' }] })
  expect(Object.keys(platform.paths)).toContain('/api/v2/handover/start')
  expect(Object.keys((await document('--control')).paths).some(path => path.includes('chats'))).toBe(true)
})

it.each([
  'validate',
  'config',
  'run --list',
  'run --only none',
  'complete -- run scenarios/',
  'trigger EVIL',
  'calibrate EVIL',
])('%s shows control and direction characters of names and values by their codes', async line => {
  const evil = '\x1b]0;title\x07\u009b2J\u202e'
  const name = `"${evil.replace(/[^ -~]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
  const steps = `steps: [{ press: ${name} }, { wait: 1s }, { expect: { message: { ${name}: 1 } } }]`
  const files = {
    ...{ scenarios: null, [`scenarios/a${evil}.yaml`]: `version: 1\nname: ${name}\n${steps}\n` },
    'handover-sim.config.yaml': `bot: { name: ${name} }\nagent_driver: ${name}\n`,
  }
  const { code, out, err } = await runCommand(
    line.split(' ').map(word => word.replace('EVIL', evil)),
    { files },
  )
  expect(code).toBeLessThan(5)
  expect(out + err).not.toMatch(/[^\P{Cc}\n\t]|\p{Cf}/u)
})

const SCENARIO = 'version: 1\nname: One\nsteps: [{ press: handover }, { expect: start }]\n'
const PROXY = 'proxy --upstream https://bot.example.test --webhook-url http://127.0.0.1:9/'

it.each(['run s.yaml --target http://127.0.0.1:1/ --port 0', `${PROXY} --port 0 --output quiet`])(
  '%s follows no link that lies below .handover-sim, which Git ignores',
  async line => {
    const files = { victim: 'mine', elsewhere: null, 's.yaml': SCENARIO }
    const linked = folderWith({ ...files, '.handover-sim': null })
    for (const name of ['.gitignore', 'journal.jsonl', 'target.log'])
      symlinkSync(join(linked, 'victim'), join(linked, '.handover-sim', name))
    const led = folderWith(files)
    symlinkSync(join(led, 'elsewhere'), join(led, '.handover-sim'))
    for (const cwd of [linked, led]) {
      const io = fakeIo(cwd)
      const code = main(
        [...line.split(' '), '--wait-for-target', '0s'].slice(0, line.startsWith('run') ? 99 : -2),
        {},
        io,
      )
      if (line.startsWith('proxy') && cwd === linked) {
        await io.stderr.until(/journal/)
        io.signal('SIGTERM')
      }
      await code
      if (cwd === led) expect(io.stderr.text).toContain('.handover-sim is a link')
    }
    expect(readFileSync(join(linked, 'victim'), 'utf8')).toBe('mine')
    expect(readFileSync(join(linked, '.handover-sim/.gitignore'), 'utf8')).toBe('*\n')
    expect(readdirSync(join(led, 'elsewhere'))).toEqual([])
  },
)

it.each([
  'calibrate zero',
  'report zero',
  'validate zero.yaml',
  'run zero.yaml',
  'config --config zero.yaml',
  'stop --ready-file zero',
])('%s refuses a file that never ends', async line => {
  const cwd = folderWith()
  for (const name of ['zero', 'zero.yaml']) symlinkSync('/dev/zero', join(cwd, name))
  const { code, err } = await runCommand(line.split(' '), { cwd })
  expect({ code, err }).toEqual({ code: expect.toBeOneOf([2, 3]), err: expect.stringContaining('no regular file') })
})
