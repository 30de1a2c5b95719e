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
  handoverKey: 'hk-7/Tq+"9z\\Lw',
  botKey: 'bk+4421/xyzzy==',
  otherKey: 'ok~55:quux/12',
  password: 'p4ss wörd/"7&<x>',
  deskToken: 'dt-0099887766',
  targetPassword: 'tgt-pa55word',
  targetToken: 'tok_AbC123/+x',
}

/** A secret as it is, in JSON and in an address. */
const formsOf = (secret: string): string[] => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]

/** The names of the secrets that a text shows in any form. */
const secretsIn = (text: string): string[] =>
  Object.entries(SECRETS)
    .filter(([, secret]) => formsOf(secret).some(form => text.includes(form)))
    .map(([name]) => name)

function expectNoSecrets(outputs: Readonly<Record<string, string>>): void {
  const shown = Object.entries(outputs).map(([name, text]) => [name, secretsIn(text)])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(shown.map(([name]) => [name, []])))
}

/** What the page of an HTML report draws its timelines from. */
function dataOf(html: string): string {
  const data = html.matchAll(/<script type="application\/json">(.*?)<\/script>/gs)
  return JSON.stringify([...data].map(([, json = '']) => JSON.parse(json)))
}

const SCENARIO = `version: 1
name: Echo
steps:
  - user: "the password is $(env.DESK_PASSWORD)"
  - press: handover
  - expect: { start: {}, within: 20s }
  - expect: { message: { message: "echo $(env.DESK_PASSWORD)" }, within: 20s }
  - expect: { message: { message: "no such text" }, within: 100ms }
---
version: 1
name: Login
steps:
  - press: handover
  - agent: { does: login }
  - expect: start
`

const driverOf = (desk: string) => `version: 1
http: http://127.0.0.1:1
does:
  login: { POST: "${desk}/login?pw=$(env.DESK_PASSWORD)&token=$(env.DESK_TOKEN)", json: { pw: $(env.DESK_PASSWORD) } }
accept: { POST: /accept }
`

const CONFIG = `keys:
  bot: "${SECRETS.botKey}"
  more: ["${SECRETS.otherKey}:2002"]
`

/** Answers takeover requests with messages that have every secret in several encodings. */
async function startEcho(only?: string): Promise<string> {
  const sender = { name: 'Kari' }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    if (request.url?.startsWith('/login')) return void response.writeHead(409).end(`${request.url} ${body}`)
    const { event, chat_id, chat } = JSON.parse(body)
    response.end(JSON.stringify({ received: SECRETS }))
    if (event !== 'REQUESTING TAKEOVER') return
    const base = new URL(String(chat?._links.self ?? request.headers['x-base'])).origin
    const about = { bot_id: 1042, chat_id: chat_id ?? chat.id }
    const headers = { authorization: `Bearer ${SECRETS.handoverKey}`, 'content-type': 'application/json' }
    const call = (path: string, body: unknown) =>
      fetch(`${base}/api/v2/handover/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
        () => null,
      )
    await call('start/', { ...about, sender })
    await call('message/', { ...about, message: only ?? `echo ${SECRETS.password}`, sender })
    if (only !== undefined) return
    const all = Object.values(SECRETS)
    for (const message of [all.join(' '), all.map(encodeURIComponent).join('&')])
      await call('message/', { ...about, message, sender })
    await fetch(`${base}/api/v2/handover/x/?access_token=${encodeURIComponent(SECRETS.deskToken)}`).catch(() => null)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const query = `token=${encodeURIComponent(SECRETS.targetToken)}&plain=visible`
  return `http://user:${SECRETS.targetPassword}@127.0.0.1:${port}/hook?${query}`
}

const ENV = { TERM: 'dumb', DESK_PASSWORD: SECRETS.password, DESK_TOKEN: SECRETS.deskToken }
const REPORTS = 'json=r.json,junit=r.xml,html=r.html,journal=r.jsonl,tap=r.tap,github,pretty'
const KEY_FLAGS = ['--api-key', SECRETS.handoverKey]

/** Runs a scenario file, and returns every text that the run has written: by file, and stdout, stderr and timeline. */
async function run(files: Record<string, string>, flags: readonly string[], env: Env = ENV) {
  const cwd = folderWith(files)
  const argv = ['run', 's.yaml', '--port', '0', ...flags]
  const { code, out, err } = await runCommand(argv, {
    cwd,
    env: { ...env, GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') },
  })
  const names = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter(name =>
    statSync(join(cwd, name)).isFile(),
  )
  const written = Object.fromEntries(
    names.filter(name => !(name in files)).map(name => [name, readFileSync(join(cwd, name), 'utf8')]),
  )
  const html = written['r.html'] ?? ''
  return { code, cwd, shown: { stdout: out, stderr: err, data: dataOf(html), ...written } as Record<string, string> }
}

it('run shows no secret in its terminal, its reports and its journal, and report gives the same verdict', async () => {
  const target = await startEcho()
  const files = { 's.yaml': SCENARIO, 'd.yaml': driverOf(new URL(target).origin), 'handover-sim.config.yaml': CONFIG }
  const flags = ['--target', target, '--agent-driver', 'd.yaml', '--set', `keys.handover=${SECRETS.handoverKey}`]
  const { code, cwd, shown } = await run(files, [...flags, '--report', REPORTS])
  expect([code, shown.stderr]).toEqual([1, expect.not.stringContaining('Error')])
  expectNoSecrets(shown)
  expect(Object.keys(shown)).toEqual(
    expect.arrayContaining(['r.json', 'r.xml', 'r.html', 'r.jsonl', 'r.tap', 'summary.md']),
  )
  expect(shown.data).toContain('echo ***')
  expect(shown['r.jsonl']).toMatch(/echo \*\*\*[\s\S]*\*\*\* \*\*\* \*\*\*/)
  expect(shown.stdout).toContain('--set keys.handover=KEY')
  expect(shown.stdout).toContain('plain=visible')
  expect(statSync(join(cwd, 'r.jsonl')).mode & 0o777).toBe(0o600)
  expect((await runCommand(['report', 'r.jsonl', '--report', 'json=again.json,pretty'], { cwd })).code).toBe(1)
  const outcomesIn = (text: string) =>
    JSON.parse(text).scenarios.map((one: { outcome: string; failures: unknown[] }) => [
      one.outcome,
      one.failures.length,
    ])
  expect(outcomesIn(readFileSync(join(cwd, 'again.json'), 'utf8'))).toEqual(outcomesIn(shown['r.json']!))
})

it('a key of --set keys.more is in no report, nor in the data of the timeline', async () => {
  const steps = 'steps: [{ press: handover }, { expect: { start: {}, within: 20s } }, { expect: message }]'
  const files = { 's.yaml': `version: 1\nname: One\nstrict: false\n${steps}\n` }
  const target = await startEcho(`echo ${SECRETS.otherKey}`)
  const flags = ['--target', target, ...KEY_FLAGS, '--set', `keys.more=[${SECRETS.otherKey}:2002]`]
  const { code, shown } = await run(files, [...flags, '--report', REPORTS], { TERM: 'dumb' })
  expect(code).toBe(0)
  expect(Object.values(shown).flatMap(secretsIn)).not.toContain('otherKey')
  for (const name of ['data', 'r.jsonl']) expect(shown[name]).toContain('echo ***')
})

it('ordinary values of variables stay readable: in reports, file names and addresses', async () => {
  const steps =
    'steps: [{ user: "$(env.TOPIC) $(env.PORT)" }, { press: handover }, { expect: { start: {}, within: 20s } }]'
  const files = { 's.yaml': `version: 1\nname: One\nstrict: false\n${steps}\n` }
  const target = `${new URL(await startEcho('hello')).origin}/hook?author=slow-ack&design=30401234`
  const flags = ['--target', target, ...KEY_FLAGS, '--report', 'pretty,json=out/slow-ack.json,html=r.html']
  const { code, shown } = await run(files, flags, { TOPIC: 'slow-ack', PORT: '30401234' })
  expect(code).toBe(0)
  expect(shown.stdout).toContain('s.yaml > One')
  expect(shown.stderr).toContain('json report: out/slow-ack.json')
  expect(shown.stderr! + shown.stdout).not.toContain('***')
  expect(shown['out/slow-ack.json']).toContain(`"target":"${target}"`)
  expect(shown.data).toContain('slow-ack 30401234')
})

it.each([
  ['passed with a secret that its file has', 0, JSON.stringify(`echo ${SECRETS.password}`)],
  ['passed with a pattern for a secret', 0, '{ $re: "^echo p4ss" }'],
  ['failed with another secret', 1, '"echo $(env.DESK_TOKEN)"'],
])('report keeps the outcome of a scenario that %s', async (_, expected, message) => {
  const scenario = `version: 1
name: One
steps:
  - user: "$(env.DESK_PASSWORD) $(env.DESK_TOKEN)"
  - press: handover
  - expect: { start: {}, within: 20s }
  - expect: { message: { message: ${message} }, within: ${expected === 0 ? '20s' : '1s'} }
`
  const flags = ['--target', await startEcho(`echo ${SECRETS.password}`), ...KEY_FLAGS]
  const { code, cwd, shown } = await run({ 's.yaml': scenario }, flags)
  expect([code, secretsIn(shown.stdout!)]).toEqual([expected, []])
  const again = await runCommand(['report', '--report', 'json'], { cwd })
  const [{ outcome, reason_code }] = JSON.parse(again.out).scenarios
  expect([again.code, outcome, reason_code]).toEqual([expected, expected === 0 ? 'pass' : 'fail', 'values_redacted'])
})

it('start shows no secret in its log, its entries, the control API and its export, apart from the ready line', async () => {
  const folder = folderWith({ 'handover-sim.config.yaml': CONFIG })
  const flags = [
    '--json',
    ...KEY_FLAGS,
    '--webhook-url',
    await startEcho(),
    '--export',
    'state.json',
    '--ready-file',
    'r.json',
  ]
  const env = { ...ENV, HANDOVER_SIM_WEBHOOK_SECRET: SECRETS.password }
  const { io, url, stop } = await started(flags, env, fakeIo(folder))
  const ready = JSON.parse(io.stdout.lines[0]!)
  expect(ready).toMatchObject({ apiKey: SECRETS.handoverKey, botApiKey: SECRETS.botKey })
  expect(secretsIn(ready.webhookUrl)).toEqual([])
  const ask = async (path: string, method = 'GET', body?: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return (await fetch(`${url}/_sim${path}`, request)).text()
  }
  const { chat_id: id } = JSON.parse(await ask('/chats', 'POST', {}))
  const text = `${SECRETS.handoverKey} ${SECRETS.targetToken}`
  const said = await ask(`/chats/${id}/messages?wait=ack`, 'POST', { text })
  await ask(`/chats/${id}/press?wait=ack`, 'POST', { button: 'handover' })
  await io.stdout.until(/"path":"[^"]*access_token/)
  const paths = [
    '/config',
    '/state',
    '/journal',
    '/snapshot?journal=true',
    `/chats/${id}`,
    '/deliveries',
    '/wait?kind=delivery',
  ]
  const answers: Record<string, string> = { said }
  for (const path of [...paths, '/wait?call=end&timeout=1ms']) answers[path] = await ask(path)
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
  answers.stderr = io.stderr.text
  answers.exported = readFileSync(join(folder, 'state.json'), 'utf8')
  expect(statSync(join(folder, 'state.json')).mode & 0o777).toBe(0o600)
  // The simulator does not know the token of the help desk, which came in an address.
  for (const [name, shown] of Object.entries(answers))
    expect([name, secretsIn(shown).filter(secret => secret !== 'deskToken')]).toEqual([name, []])
})

const KEY = `abc-${SECRETS.deskToken}`
const BAD_KEY = `${KEY} and-${SECRETS.targetPassword}`

const FTP = `ftp://u:${SECRETS.targetPassword}@x/?token=${KEY}`
const CONFIGS: readonly [string, string][] = [
  ['a block', `keys:\n  handover: ${BAD_KEY}\n`],
  ['a wrong name', `keys:\n  handovr: ${BAD_KEY}\n`],
  ['a dotted name', `knobs:\n  keys.bot: ${BAD_KEY}\n`],
  ['one line', `keys: {handover: ${BAD_KEY}}\n`],
  ['a list', `keys:\n  more:\n  - ${BAD_KEY}\n`],
  ['an open quote', `keys:\n  handover: "${BAD_KEY}\n`],
  ['no map', `keys: ${BAD_KEY}\n`],
  ['an address', `webhook: { url: "${FTP}" }`],
]
const JSON_CONFIGS: readonly [string, string][] = [
  ['a bad key', `{\n "keys": {\n  "handover": "${BAD_KEY}"\n }\n}`],
  ['a syntax error', `{\n "keys": {\n  "handover": "${KEY}" x\n }\n}`],
  ['a syntax error in one line', `{"keys":{"handover":"${KEY}" x}}`],
]
const WRONG = `version: 1\nname: A\nconfig:\n  keys:\n    handover: ${BAD_KEY}\nsteps:\n  - press: handover\n`
type KeyError = readonly [string, readonly string[], Record<string, string>?, Record<string, string>?]
const RUNS: readonly KeyError[] = [
  ['a flag', ['config', '--api-key', BAD_KEY]],
  ['a flag with =', ['config', `--api-key=${BAD_KEY}`]],
  ['a misspelt flag', ['config', '--api-kye', BAD_KEY, '--api-key', BAD_KEY]],
  ['--set', ['config', '--set', `keys.bot=${BAD_KEY}`]],
  ['--set of a list', ['config', '--set', `keys.more=[${KEY}:1,${BAD_KEY}]`]],
  ['--set of a wrong name', ['config', '--set', `keys.handovr=${BAD_KEY}`]],
  ['an address in a flag', ['config', '--webhook-url', FTP]],
  ['a target', ['run', '--target', FTP]],
  ['a variable', ['config'], {}, { HANDOVER_SIM_API_KEY: BAD_KEY }],
  ['a scenario', ['validate', 's.yaml'], { 's.yaml': WRONG }],
]

it.for<KeyError>([
  ...RUNS,
  ...CONFIGS.map(([what, text]): KeyError => [`YAML: ${what}`, ['config'], { 'handover-sim.config.yaml': text }]),
  ...JSON_CONFIGS.map(([what, text]): KeyError => [`JSON: ${what}`, ['config'], { 'handover-sim.config.json': text }]),
])('an error about a key in %s does not show it', async ([, argv, files = {}, env = {}]) => {
  const { code, out, err } = await runCommand(argv, { files: { 's.yaml': SCENARIO, ...files }, env })
  expect(code).toBe(2)
  for (const part of [KEY, SECRETS.deskToken, SECRETS.targetPassword]) expect(out + err).not.toContain(part)
})
