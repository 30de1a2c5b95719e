/** Scenarios that start, stop, restart and kill the intermediary, which the driver runs as a process. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/port.ts'
import { expectRows, type Row } from './table.ts'
import { against, reported, startRun } from './targets.ts'

/** Takes over every chat at once, and knows only chats since its start. */
const APP = `import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
const { PORT, HANDOVER_SIM_URL: sim, HANDOVER_SIM_API_KEY: key } = process.env
if (existsSync('slow')) await new Promise(resolve => setTimeout(resolve, 4000))
if (existsSync('broken')) { console.error('the settings are broken'); process.exit(1) }
const inboxes = {}
const start = (bot_id, chat_id) => fetch(sim + '/api/v2/handover/start', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
  body: JSON.stringify({ bot_id, chat_id, sender: { name: 'Anna', avatar: 'https://desk.example.test/a.png' } }),
})
createServer(async (request, response) => {
  if (request.url.startsWith('/inbox/')) return response.end(JSON.stringify(inboxes[request.url.slice(7)] ?? []))
  const [, sign] = request.url.split('/sign/')
  if (sign) writeFileSync(sign, '')
  if (request.method === 'GET' || sign) return response.end()
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  response.end()
  const { event, chat, bot, message } = JSON.parse(Buffer.concat(chunks).toString())
  if (event === 'REQUESTING TAKEOVER') await start(bot.id, chat.id)
  if (event === 'MESSAGE FROM USER') (inboxes[chat.id] ??= []).push({ text: message })
}).listen(Number(PORT), '127.0.0.1')
`

const TAKEN = `
- press: handover
- expect: start
- check: { status: agent }
- user: before
- agent: { sees: before }
`
const AFTER = '- user: after\n- agent: { sees: after }'
const needs = (what: string) => `${TAKEN}- target: ${what}\n`

const rows: Record<string, Row> = {
  restart: `${needs('restart')}${AFTER}`,
  'restart, and it has forgotten': {
    steps: `${needs('restart')}- agent: { sees: { text: { $re: . } }, within: 150ms }`,
    is: /^sees: agent sees \/\.\/ exactly once within 150ms of step 6 \(target restart\) \| the agent did not see \/\.\/ within 150ms: the inbox has no new item/,
  },
  'kill and start': `${needs('kill')}- target: start\n${AFTER}`,
  stop: {
    steps: `${needs('stop')}- user: { text: lost, ack: any }\n`,
    head: 'finally: [{ target: start }]',
    is: /^stimulus: an answer from the webhook to MESSAGE FROM USER .* \| no answer .*: nothing listens/,
  },
  'start what runs already': `${needs('start')}${AFTER}`,
  'it does not come back': {
    head: 'strict: { unexpected: warn }',
    steps: `- press: handover\n- check: { status: agent }\n- agent: { does: sign, with: { what: broken } }\n- target: restart`,
    is: /^error, 2 failures: environment: target restart \| .*exit code 1.*the settings are broken \/\/ unexpected: /s,
  },
}

const driverAt = (port: number) => `version: 1
http: http://127.0.0.1:${port}
inbox: { GET: "/inbox/$(chat.id)" }
does:
  sign: { POST: /sign/$(what) }
target:
  start: [${JSON.stringify(process.execPath)}, app.mjs]
  env: { PORT: "${port}" }
  ready: http://127.0.0.1:${port}/health
`

it('target', async () => {
  const port = await freePort()
  const also = { driver: driverAt(port), files: { 'app.mjs': APP }, flags: ['--strict'] }
  const report = await expectRows({ url: `http://127.0.0.1:${port}/webhook` }, rows, also)
  expect(report.exit_code).toBe(1)
})

it('a slow start of the target ends with the time limit of the scenario', async () => {
  const port = await freePort()
  const slow = {
    head: 'timeouts: { scenario: 600ms, settle: 50ms }',
    steps: `- agent: { does: sign, with: { what: slow } }\n- target: restart\n- check: { status: bot }`,
    is: /^stopped: .*was stopped at step 2 \(target restart\): took longer than 600ms/,
  }
  const also = { driver: driverAt(port), files: { 'app.mjs': APP } }
  await expectRows({ url: `http://127.0.0.1:${port}/webhook` }, { slow }, also)
})

const SIMPLE = 'version: 1\nname: Simple\nsteps: [{ press: handover }, { expect: start }]\n'

/** Runs a scenario whose intermediary is this program of Node, in one line. */
async function startProgram(program: string) {
  const url = `http://127.0.0.1:${await freePort()}/`
  const start = JSON.stringify([process.execPath, '-e', program])
  const driver = `accept: { POST: "${url}" }\ntarget: { start: ${start}, ready: "${url}", ready_timeout: 60s }\n`
  return startRun({ 's.yaml': SIMPLE, 'd.yaml': driver }, ['s.yaml', ...against({ url }), '--agent-driver', 'd.yaml'])
}

it('a target that does not start ends the run with exit 3, and its last output is in the reports', async () => {
  const { code, out, read } = await reported(await startProgram("console.error('no database'); process.exit(7)"))
  expect(code).toBe(3)
  expect(out).toMatch(/did not start: it ended with exit code 7/)
  expect(read('j.xml')).toContain('no database')
})

it('Ctrl-C while the intermediary starts ends the run and writes its reports, exit 130', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const run = await startProgram(`fetch('http://127.0.0.1:${port}/'); setInterval(() => {}, 1000)`)
  await once(server, 'request')
  run.io.signal('SIGINT')
  const { code, out, read } = await reported(run)
  server.closeAllConnections()
  expect(code).toBe(130)
  expect(out).toMatch(/^ERROR .* {2}interrupted by SIGINT\n/)
  expect(read('j.xml')).toContain('errors="1"')
})
