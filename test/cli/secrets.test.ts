/** Plants secrets in every place that a command reads, and searches all that it produces for them. */
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { type Env, fakeIo, runCommand, started } from './fake-io.ts'

/** Most secrets have characters that JSON or addresses write in another way. */
const SECRETS = {
  handoverKey: 'hk-7/Tq+"9z\\Lw\'qR5vB8nM2kX6jW4hT',
  botKey: 'bk+4421/xyzzy==Zc3Vg7Bd1Nf9Mh5K',
  otherKey: 'ok~55:quux/12aSd3Fg6Hj9Kl2Zx5C',
  password: 'p4ss wörd/"7&<x>\'(8uJ3mQ9) tY6 rE1 wA',
  deskToken: 'dt-0099887766pOi8Uy5Tr2Ew9Qa6Sd',
  controlToken: 'ct.mN4bV7cX1zL8kJ5hG2fD9sA6pO3i',
  targetPassword: "tgt-pa55word'eR7tY4uI1oP8aS5dF2g",
  targetToken: 'tok_AbC123/+xhJ6kL3zX9cV5bN2mQ8w',
}

/** PHP and browsers write some characters that `encodeURIComponent` leaves as they are. */
const inAddress = (secret: string) =>
  encodeURIComponent(secret).replace(/['()]/g, sign => `%${sign.charCodeAt(0).toString(16)}`)

/** A secret as it is, in JSON, also of PHP, and in an address. */
const formsOf = (secret: string): string[] => {
  const json = JSON.stringify(secret).slice(1, -1)
  return [secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret), inAddress(secret)]
}

const PART = 8
const partsOf = (text: string) => Array.from({ length: text.length - PART + 1 }, (_, at) => text.slice(at, at + PART))
const NAME_OF_PART = new Map(
  Object.entries(SECRETS).flatMap(([name, secret]) =>
    formsOf(secret)
      .flatMap(partsOf)
      .map(part => [part, name]),
  ),
)

/** The names of the secrets of which a text shows eight characters in any form. */
function secretsIn(text: string): string[] {
  const names = new Set<string>()
  for (let at = 0; at + PART <= text.length; at++) {
    const name = NAME_OF_PART.get(text.slice(at, at + PART))
    if (name !== undefined) names.add(name)
  }
  return [...names]
}

/** Wherever this is cut, a part of a secret is left. */
const ALL = Object.values(SECRETS).join(' ')
const LONG = [ALL, Object.values(SECRETS).map(inAddress).join('&'), JSON.stringify(ALL)].join(' ').repeat(2)

function expectNoSecrets(outputs: Readonly<Record<string, string>>): void {
  const shown = Object.entries(outputs).map(([name, text]) => [name, secretsIn(text)])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(shown.map(([name]) => [name, []])))
}

/** What the page of an HTML report draws its timelines from. */
function dataOf(html: string): string {
  const data = html.matchAll(/<script type="application\/json">(.*?)<\/script>/gs)
  return JSON.stringify([...data].map(([, json = '']) => JSON.parse(json)))
}

/** A scenario that begins a handover, and continues with these steps. */
const scenario = (before: string, ...steps: string[]) =>
  `version: 1\nname: One\nstrict: false\nsteps:\n${[before, 'press: handover', STARTED, ...steps].map(step => `  - ${step}\n`).join('')}`
const STARTED = 'expect: { start: {}, within: 20s }'
const SCENARIO = `${scenario(
  'user: "the password is $(env.DESK_PASSWORD)"',
  'expect: { message: { message: "echo $(env.DESK_PASSWORD)" }, within: 20s }',
  'expect: { message: { message: "no such text" }, within: 100ms }',
)}---
version: 1
name: Login
steps: [{ press: handover }, { agent: { does: login } }, { expect: start }]
`

const driverOf = (desk: string) => `version: 1
http: http://127.0.0.1:1
does:
  login: { POST: "${desk}/login?pw=$(env.DESK_PASSWORD)&token=$(env.DESK_TOKEN)", json: { pw: $(env.DESK_PASSWORD) } }
accept: { POST: /accept }
leave: { POST: /leave }
`

const CONFIG = `keys:
  bot: "${SECRETS.botKey}"
  more: ["${SECRETS.otherKey}:2002"]
`

/** Answers takeover requests with messages that have every secret in several encodings; `status` is that of its answers. */
async function startEcho(only?: string, status = 200): Promise<string> {
  const sender = { name: only === undefined ? LONG : 'Kari', avatar: `https://a.example/${inAddress(ALL)}` }
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    if (request.url?.startsWith('/login')) return void response.writeHead(409).end(`${request.url} ${body} ${LONG}`)
    const { event, chat_id, chat } = JSON.parse(body)
    response.writeHead(status).end(status === 200 ? JSON.stringify({ received: SECRETS }) : `the key is wrong: ${LONG}`)
    if (event !== 'REQUESTING TAKEOVER') return
    const base = new URL(String(chat?._links.self ?? request.headers['x-base'])).origin
    const about = { bot_id: 1042, chat_id: chat_id ?? chat.id }
    const headers = { authorization: `Bearer ${SECRETS.handoverKey}`, 'content-type': 'application/json' }
    const call = (path: string, message?: string) => {
      const request = { method: 'POST', headers, body: JSON.stringify({ ...about, sender, message }) }
      return fetch(`${base}/api/v2/handover/${path}`, request).catch(() => null)
    }
    await call('start/')
    await call('message/', only ?? `echo ${SECRETS.password}`)
    if (only !== undefined) return
    const all = Object.values(SECRETS)
    const cuts = Array.from({ length: 6 }, (_, index) => 'x'.repeat(7 * index) + LONG)
    for (const message of [all.join(' '), all.map(encodeURIComponent).join('&'), ...cuts])
      await call('message/', message)
    await call(`x/?access_token=${encodeURIComponent(SECRETS.deskToken)}`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const query = `token=${encodeURIComponent(SECRETS.targetToken)}&plain=visible`
  return `http://user:${SECRETS.targetPassword}@127.0.0.1:${port}/hook?${query}`
}

const ENV = { TERM: 'dumb', DESK_PASSWORD: SECRETS.password, DESK_TOKEN: SECRETS.deskToken }
const REPORTS = 'json=r.json,junit=r.xml,ctrf=c.json,html=r.html,journal=r.jsonl,tap=r.tap,github,pretty'
const KEY_FLAGS = ['--api-key', SECRETS.handoverKey]

/** Runs a scenario file, and returns every text that the run has written: by file, and stdout, stderr and timeline. */
async function run(files: Record<string, string>, flags: readonly string[], env: Env = ENV) {
  const cwd = folderWith(files)
  const summary = { GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') }
  const { code, out, err } = await runCommand(['run', 's.yaml', '--port', '0', ...flags], {
    cwd,
    env: { ...env, ...summary },
  })
  return { code, cwd, shown: outputsIn(cwd, out, err, Object.keys(files)) }
}

/** Every text that a command has written: by file, except those that were there, and what the page draws from. */
function outputsIn(cwd: string, stdout: string, stderr: string, given: readonly string[]): Record<string, string> {
  const shown: Record<string, string> = { stdout, stderr }
  for (const name of readdirSync(cwd, { recursive: true, encoding: 'utf8' }))
    if (!given.includes(name) && statSync(join(cwd, name)).isFile()) shown[name] = readFileSync(join(cwd, name), 'utf8')
  return { ...shown, data: dataOf(shown['r.html'] ?? '') }
}

it('run shows no secret in its terminal, its reports and its journal, and report gives the same verdict', async () => {
  const target = await startEcho()
  const files = { 's.yaml': SCENARIO, 'd.yaml': driverOf(new URL(target).origin), 'handover-sim.config.yaml': CONFIG }
  const flags = [
    '--token',
    SECRETS.controlToken,
    '--target',
    target,
    '--agent-driver',
    'd.yaml',
    '--set',
    `keys.handover=${SECRETS.handoverKey}`,
  ]
  const { code, cwd, shown } = await run(files, [...flags, '--report', REPORTS])
  expect([code, shown.stderr]).toEqual([1, expect.not.stringContaining('Error')])
  expectNoSecrets(shown)
  const reports = ['r.json', 'r.xml', 'c.json', 'r.html', 'r.jsonl', 'r.tap', 'summary.md']
  expect(Object.keys(shown)).toEqual(expect.arrayContaining(reports))
  expect(shown.data).toContain('echo ***')
  expect(shown['r.jsonl']).toMatch(/echo \*\*\*[\s\S]*\*\*\* \*\*\* \*\*\*/)
  expect(shown.stdout).toContain('--set keys.handover=KEY')
  expect(shown.stdout).toContain('plain=visible')
  expect(statSync(join(cwd, 'r.jsonl')).mode & 0o777).toBe(0o600)
  expect((await runCommand(['report', 'r.jsonl', '--report', 'json=again.json,pretty'], { cwd })).code).toBe(1)
  const outcomesIn = (text: string) => text.match(/"outcome":"\w+"/g)
  expect(outcomesIn(readFileSync(join(cwd, 'again.json'), 'utf8'))).toEqual(outcomesIn(shown['r.json']!))
})

it('a key of --set keys.more is in no report, nor in the data of the timeline', async () => {
  const files = { 's.yaml': scenario('user: Hi', 'expect: message') }
  const target = await startEcho(`echo ${SECRETS.otherKey}`)
  const flags = ['--target', target, ...KEY_FLAGS, '--set', `keys.more=[${SECRETS.otherKey}:2002]`]
  const { code, shown } = await run(files, [...flags, '--report', REPORTS], { TERM: 'dumb' })
  expect(code).toBe(0)
  expect(Object.values(shown).flatMap(secretsIn)).not.toContain('otherKey')
  for (const name of ['data', 'r.jsonl']) expect(shown[name]).toContain('echo ***')
})

const REPEATED = { 's.yaml': SCENARIO, 'l.yaml': scenario('user: Hi'), 'handover-sim.config.yaml': CONFIG }
const OF_KEYS = ['--set', `keys.handover=${SECRETS.handoverKey}`, '--token', SECRETS.controlToken, '--port', '0']
const FILES = 'pretty,json=r.json,junit=r.xml,ctrf=c.json,html=r.html,tap=r.tap,github'

it.each<[command: string, code: number, ...flags: string[]]>([
  ['certify', 1, '--only', 'SIG-01', '--only', 'FLW-01', '--report', `${FILES},markdown=r.md,badge=r.svg`],
  ['explore', 1, '--conversations', '2', '--within', '300ms', '--report', `${FILES},journal=r.jsonl`],
  ['load', 1, 'l.yaml', '--arrivals', '4/s', '--for', '500ms', '--no-own-limit', '--report', `${FILES},markdown=r.md`],
  ['doctor', 1],
])('%s shows no part of a secret that service and help desk repeat', async (command, expected, ...flags) => {
  const target = await startEcho(undefined, 500)
  const files = { ...REPEATED, 'd.yaml': driverOf(new URL(target).origin) }
  const cwd = folderWith(files)
  const own = command === 'doctor' ? ['--webhook-url', target] : ['--target', target, '--agent-driver', 'd.yaml']
  // The doctor reads neither scenarios nor a driver.
  const known = { HANDOVER_SIM_WEBHOOK_SECRET: SECRETS.password, HANDOVER_SIM_TOKEN: SECRETS.deskToken }
  const env = { ...ENV, ...(command === 'doctor' && known), GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') }
  const { code, out, err } = await runCommand([command, ...flags, ...OF_KEYS, ...own], { cwd, env })
  expect([code, err]).toEqual([expected, expect.not.stringContaining('Internal error')])
  expectNoSecrets(outputsIn(cwd, out, err, Object.keys(files)))
})

it('ordinary values of variables stay readable: in reports, file names and addresses', async () => {
  const files = { 's.yaml': scenario('user: "$(env.TOPIC) $(env.PORT)"') }
  const target = `${new URL(await startEcho('hello')).origin}/hook?author=slow-ack&design=30401234`
  const flags = ['--target', target, ...KEY_FLAGS, '--report', 'pretty,json=out/slow-ack.json,html=r.html']
  const { code, shown } = await run(files, flags, { TOPIC: 'slow-ack', PORT: '30401234' })
  expect([code, shown.stderr]).toEqual([0, expect.stringContaining('json report: out/slow-ack.json')])
  expect(shown.stderr! + shown.stdout).not.toContain('***')
  expect(shown['out/slow-ack.json']).toContain(`"target":"${target}"`)
  expect(shown.data).toContain('slow-ack 30401234')
})

it.each([
  ['passed with a secret that its file has', 0, JSON.stringify(`echo ${SECRETS.password}`)],
  ['passed with a pattern for a secret', 0, '{ $re: "^echo p4ss" }'],
  ['failed with another secret', 1, '"echo $(env.DESK_TOKEN)"'],
])('report keeps the outcome of a scenario that %s', async (_, expected, message) => {
  const expectation = `expect: { message: { message: ${message} }, within: ${expected === 0 ? '20s' : '1s'} }`
  const flags = ['--target', await startEcho(`echo ${SECRETS.password}`), ...KEY_FLAGS]
  const text = scenario('user: "$(env.DESK_PASSWORD) $(env.DESK_TOKEN)"', expectation)
  const { code, cwd, shown } = await run({ 's.yaml': text }, flags)
  expect([code, secretsIn(shown.stdout!)]).toEqual([expected, []])
  const again = await runCommand(['report', '--report', 'json'], { cwd })
  const [{ outcome, reason_code }] = JSON.parse(again.out).scenarios
  expect([again.code, outcome, reason_code]).toEqual([expected, expected === 0 ? 'pass' : 'fail', 'values_redacted'])
})

it.each(['--json', '--output=pretty'])(
  'start %s shows no secret in its log, its entries, the control API and its export, apart from the ready line',
  async style => {
    const folder = folderWith({ 'handover-sim.config.yaml': CONFIG })
    const output = [style, '--export', 'state.json', '--ready-file', 'r.json']
    const flags = [...output, ...KEY_FLAGS, '--webhook-url', await startEcho()]
    const env = { ...ENV, HANDOVER_SIM_WEBHOOK_SECRET: SECRETS.password }
    const { io, url, stop } = await started(flags, env, fakeIo(folder))
    const ready = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))
    expect(ready).toMatchObject({ apiKey: SECRETS.handoverKey, botApiKey: SECRETS.botKey })
    expect(secretsIn(ready.webhookUrl)).toEqual([])
    const ask = async (path: string, method = 'GET', body?: unknown) => {
      const request = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      return (await fetch(`${url}/_sim${path}`, request)).text()
    }
    const { chat_id: id } = JSON.parse(await ask('/chats', 'POST', {}))
    // The first lines show the keys, because the user needs them.
    const before = io.stderr.text.length
    const text = `${SECRETS.handoverKey} ${SECRETS.targetToken}`
    const said = await ask(`/chats/${id}/messages?wait=ack`, 'POST', { text })
    await ask(`/chats/${id}/press?wait=ack`, 'POST', { button: 'handover' })
    await (style === '--json' ? io.stdout : io.stderr).until(/x\/\?access_token/)
    const paths =
      '/config /state /journal /snapshot?journal=true /deliveries /wait?kind=delivery /wait?call=end&timeout=1ms /calibration /readiness'
    const answers: Record<string, string> = { said }
    for (const path of [...paths.split(' '), `/chats/${id}`]) answers[path] = await ask(path)
    answers.record = await ask('/record', 'POST', { reads: true })
    answers.wrong = await ask('/config', 'PATCH', {
      'keys.handover': `bad ${SECRETS.handoverKey}`,
      'webhook.url': `ftp://u:${SECRETS.targetPassword}@x/`,
    })
    expect(answers.wrong).toContain('characters')
    await ask('/config', 'PATCH', { 'keys.handover': 'replaced-key-1' })
    answers.replaced = await ask('/journal')
    expect(await ask('/snapshot?keys=true')).toContain('replaced-key-1')
    await stop()
    answers.entries = io.stdout.lines.slice(1).join('\n')
    answers.stderr = io.stderr.text.slice(before)
    answers.exported = readFileSync(join(folder, 'state.json'), 'utf8')
    expect(statSync(join(folder, 'state.json')).mode & 0o777).toBe(0o600)
    // The simulator does not know the token of the help desk, which came in an address, and has no control token.
    const UNKNOWN = ['deskToken', 'controlToken']
    for (const [name, shown] of Object.entries(answers))
      expect([name, secretsIn(shown).filter(secret => !UNKNOWN.includes(secret))]).toEqual([name, []])
  },
)

const KEY = `abc-${SECRETS.deskToken}`
const BAD_KEY = `${KEY} and-${SECRETS.targetPassword}`

const FTP = `ftp://u:${SECRETS.targetPassword}@x/?token=${KEY}`
const YAML = 'handover-sim.config.yaml'
const JSON_FILE = 'handover-sim.config.json'
const WRONG = `version: 1\nname: A\nconfig:\n  keys:\n    handover: ${BAD_KEY}\nsteps:\n  - press: handover\n`
type KeyError = readonly [string, readonly string[], Record<string, string>?, Record<string, string>?]

it.for<KeyError>([
  ['a flag', ['config', '--api-key', BAD_KEY]],
  ['a misspelt flag', ['config', '--api-kye', BAD_KEY, `--api-key=${BAD_KEY}`]],
  ['--set', ['config', '--set', `keys.bot=${BAD_KEY}`]],
  ['--set of a list', ['config', '--set', `keys.more=[${KEY}:1,${BAD_KEY}]`]],
  ['an address in a flag', ['config', '--webhook-url', FTP]],
  ['a target', ['run', '--target', FTP]],
  ['a variable', ['config'], {}, { HANDOVER_SIM_API_KEY: BAD_KEY }],
  ['a scenario', ['validate', 's.yaml'], { 's.yaml': WRONG }],
  ['YAML: a block', ['config'], { [YAML]: `keys:\n  handover: ${BAD_KEY}\n` }],
  ['YAML: a wrong name', ['config'], { [YAML]: `keys:\n  handovr: ${BAD_KEY}\n` }],
  ['YAML: one line', ['config'], { [YAML]: `keys: {handover: ${BAD_KEY}}\n` }],
  ['YAML: an open quote', ['config'], { [YAML]: `keys:\n  handover: "${BAD_KEY}\n` }],
  ['YAML: no map', ['config'], { [YAML]: `keys: ${BAD_KEY}\n` }],
  ['YAML: an address', ['config'], { [YAML]: `webhook: { url: "${FTP}" }` }],
  ['JSON: a syntax error', ['config'], { [JSON_FILE]: `{\n "keys": {\n  "handover": "${KEY}" x\n }\n}` }],
  ['JSON: a syntax error in one line', ['config'], { [JSON_FILE]: `{"keys":{"handover":"${KEY}" x}}` }],
])('an error about a key in %s does not show it', async ([, argv, files = {}, env = {}]) => {
  const { code, out, err } = await runCommand(argv, { files: { 's.yaml': SCENARIO, ...files }, env })
  expect(code).toBe(2)
  for (const part of [KEY, SECRETS.deskToken, SECRETS.targetPassword]) expect(out + err).not.toContain(part)
})
