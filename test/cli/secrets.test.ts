/** Plants secrets in every place that a command reads, and searches all that it produces for them. */
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { fakeIo, runCommand } from './fake-io.ts'

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
const REPORTS = ['json=r.json', 'junit=r.xml', 'html=r.html', 'journal=r.jsonl', 'tap=r.tap', 'github', 'pretty']

it('run shows no secret in its terminal, its reports and its journal, and report gives the same verdict', async () => {
  const target = await startEcho()
  const files = { 's.yaml': SCENARIO, 'd.yaml': driverOf(new URL(target).origin), 'handover-sim.config.yaml': CONFIG }
  const folder = folderWith(files)
  const io = fakeIo(folder)
  const env = { ...ENV, GITHUB_STEP_SUMMARY: join(folder, 'summary.md') }
  const keys = ['--set', `keys.handover=${SECRETS.handoverKey}`]
  const argv = ['run', 's.yaml', '--port', '0', '--target', target, '--agent-driver', 'd.yaml', ...keys]
  const ran = await main([...argv, ...REPORTS.flatMap(report => ['--report', report])], env, io)
  expect([ran, io.stdout.text === '' ? io.stderr.text : '']).toEqual([1, ''])
  const written = Object.fromEntries(
    ['r.json', 'r.xml', 'r.html', 'r.jsonl', 'r.tap', 'summary.md'].map(name => [
      name,
      readFileSync(join(folder, name), 'utf8'),
    ]),
  )
  expectNoSecrets({ stdout: io.stdout.text, stderr: io.stderr.text, ...written, data: dataOf(written['r.html']!) })
  expect(dataOf(written['r.html']!)).toContain('echo ***')
  expect(written['r.jsonl']).toContain('echo ***')
  expect(written['r.jsonl']).toContain('*** *** ***')
  expect(io.stdout.text).toContain('--set keys.handover=KEY')
  expect(io.stdout.text).toContain('plain=visible')
  expect(statSync(join(folder, 'r.jsonl')).mode & 0o777).toBe(0o600)
  const again = fakeIo(folder)
  const code = await main(['report', 'r.jsonl', '--report', 'json=again.json,pretty'], {}, again)
  expect(code).toBe(1)
  const outcomeOf = (name: string) =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')).scenarios.map(
      (one: { outcome: string; failures: unknown[] }) => [one.outcome, one.failures.length],
    )
  expect(outcomeOf('again.json')).toEqual(outcomeOf('r.json'))
})

it('a key of --set keys.more is in no report, nor in the data of the timeline', async () => {
  const { otherKey } = SECRETS
  const steps = 'steps: [{ press: handover }, { expect: { start: {}, within: 20s } }, { expect: message }]'
  const folder = folderWith({ 's.yaml': `version: 1\nname: One\nstrict: false\n${steps}\n` })
  const io = fakeIo(folder)
  const env = { TERM: 'dumb', GITHUB_STEP_SUMMARY: join(folder, 'summary.md') }
  const keys = ['--api-key', SECRETS.handoverKey, '--set', `keys.more=[${otherKey}:2002]`]
  const argv = ['run', 's.yaml', '--port', '0', '--target', await startEcho(`echo ${otherKey}`), ...keys]
  expect(await main([...argv, ...REPORTS.flatMap(report => ['--report', report])], env, io)).toBe(0)
  const data = dataOf(readFileSync(join(folder, 'r.html'), 'utf8'))
  const shown: Record<string, string> = { stdout: io.stdout.text, stderr: io.stderr.text, data }
  for (const name of readdirSync(folder)) shown[name] = readFileSync(join(folder, name), 'utf8')
  for (const [name, text] of Object.entries(shown))
    expect([name, secretsIn(text).filter(secret => secret === 'otherKey')]).toEqual([name, []])
  for (const name of ['data', 'r.jsonl']) expect(shown[name]).toContain('echo ***')
})

it('ordinary values of variables stay readable: in reports, file names and addresses', async () => {
  const steps =
    'steps: [{ user: "$(env.TOPIC) $(env.PORT)" }, { press: handover }, { expect: { start: {}, within: 20s } }]'
  const folder = folderWith({ 'slow-ack.yaml': `version: 1\nname: One\nstrict: false\n${steps}\n` })
  const io = fakeIo(folder)
  const { port } = new URL(await startEcho('hello'))
  const target = `http://127.0.0.1:${port}/hook?author=slow-ack&design=30401234`
  const argv = ['run', 'slow-ack.yaml', '--port', '0', '--target', target, '--api-key', SECRETS.handoverKey]
  const reports = ['--report', 'pretty,json=out/slow-ack.json,html=out/slow-ack.html']
  expect(await main([...argv, ...reports], { TOPIC: 'slow-ack', PORT: '30401234' }, io)).toBe(0)
  expect(io.stdout.text).toContain('slow-ack.yaml > One')
  expect(io.stderr.text).toContain('json report: out/slow-ack.json')
  expect(io.stderr.text + io.stdout.text).not.toContain('***')
  expect(readFileSync(join(folder, 'out/slow-ack.json'), 'utf8')).toContain(`"target":"${target}"`)
  expect(dataOf(readFileSync(join(folder, 'out/slow-ack.html'), 'utf8'))).toContain('slow-ack 30401234')
  expect(await main(['report'], {}, fakeIo(folder))).toBe(0)
})

it.each([
  ['passed with a secret that its file has', 0, JSON.stringify(`echo ${SECRETS.password}`)],
  ['passed with a pattern for a secret', 0, '{ $re: "^echo p4ss" }'],
  ['failed with another secret', 1, '"echo $(env.DESK_TOKEN)"'],
])('report keeps the outcome of a scenario that %s', async (_title, expected, message) => {
  const scenario = `version: 1
name: One
steps:
  - user: "$(env.DESK_PASSWORD) $(env.DESK_TOKEN)"
  - press: handover
  - expect: { start: {}, within: 20s }
  - expect: { message: { message: ${message} }, within: ${expected === 0 ? '20s' : '3s'} }
`
  const folder = folderWith({ 's.yaml': scenario })
  const target = await startEcho(`echo ${SECRETS.password}`)
  const argv = ['run', 's.yaml', '--port', '0', '--target', target, '--api-key', SECRETS.handoverKey]
  const io = fakeIo(folder)
  expect([await main(argv, ENV, io), secretsIn(io.stdout.text)]).toEqual([expected, []])
  const again = fakeIo(folder)
  expect(await main(['report', '--report', 'json'], {}, again)).toBe(expected)
  const [{ outcome, reason_code }] = JSON.parse(again.stdout.text).scenarios
  expect([outcome, reason_code]).toEqual([expected === 0 ? 'pass' : 'fail', 'values_redacted'])
})

it('start shows no secret in its log, its entries, the control API and its export, apart from the ready line', async () => {
  const folder = folderWith({ 'handover-sim.config.yaml': CONFIG })
  const io = fakeIo(folder)
  const target = await startEcho()
  const files = ['--export', 'state.json', '--ready-file', 'ready.json']
  const argv = ['start', '--json', '--port', '0', '--api-key', SECRETS.handoverKey, '--webhook-url', target, ...files]
  const code = main(argv, { ...ENV, HANDOVER_SIM_WEBHOOK_SECRET: SECRETS.password }, io)
  const ready = JSON.parse((await io.stdout.until(/\n/)).split('\n')[0]!)
  expect(ready).toMatchObject({ apiKey: SECRETS.handoverKey, botApiKey: SECRETS.botKey })
  expect(secretsIn(ready.webhookUrl)).toEqual([])
  expect(statSync(join(folder, 'ready.json')).mode & 0o777).toBe(0o600)
  const ask = async (path: string, method = 'GET', body?: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${ready.url}/_sim${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.text()
  }
  const chat = JSON.parse(await ask('/chats', 'POST', {}))
  const says = await ask(`/chats/${chat.chat_id}/messages?wait=ack`, 'POST', {
    text: `${SECRETS.handoverKey} ${SECRETS.targetToken}`,
  })
  await ask(`/chats/${chat.chat_id}/press?wait=ack`, 'POST', { button: 'handover' })
  await io.stdout.until(/"path":"[^"]*access_token/)
  const paths = [
    '/config',
    '/state',
    '/journal',
    '/snapshot?journal=true',
    `/chats/${chat.chat_id}`,
    '/deliveries',
    '/wait?kind=delivery',
    '/wait?call=end&timeout=1ms',
  ]
  const answers = await Promise.all(paths.map(async path => [path, await ask(path)] as const))
  const wrong = await ask('/config', 'PATCH', {
    'keys.handover': `bad ${SECRETS.handoverKey}`,
    'webhook.url': `ftp://u:${SECRETS.targetPassword}@x/`,
  })
  expect(wrong).toContain('characters')
  await ask('/config', 'PATCH', { 'keys.handover': 'replaced-key-1' })
  const replaced = await ask('/journal')
  const withKeys = await ask('/snapshot?keys=true')
  expect(withKeys).toContain('replaced-key-1')
  io.signal('SIGTERM')
  expect(await code).toBe(143)
  const entries = io.stdout.lines.slice(1).join('\n')
  const exported = readFileSync(join(folder, 'state.json'), 'utf8')
  expect(statSync(join(folder, 'state.json')).mode & 0o777).toBe(0o600)
  const { deskToken: _, ...known } = SECRETS
  const shown = { entries, stderr: io.stderr.text, says, wrong, replaced, exported, ...Object.fromEntries(answers) }
  for (const [name, text] of Object.entries(shown)) {
    const found = secretsIn(text).filter(secret => secret in known)
    expect([name, found]).toEqual([name, []])
  }
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

it('a folder of a run has no secret in any file that the run wrote', async () => {
  const folder = folderWith({ 's.yaml': SCENARIO })
  const io = fakeIo(folder)
  await main(['run', 's.yaml', '--port', '0', '--target', await startEcho(), '--api-key', SECRETS.handoverKey], ENV, io)
  const written = readdirSync(join(folder, '.handover-sim')).map(name => [
    name,
    readFileSync(join(folder, '.handover-sim', name), 'utf8'),
  ])
  const { botKey: _, otherKey: __, deskToken: ___, ...known } = SECRETS
  for (const [name, text] of [...written, ['stderr', io.stderr.text]])
    expect([name, secretsIn(text!).filter(secret => secret in known)]).toEqual([name, []])
})
