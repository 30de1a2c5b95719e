/** Programs that repeat secrets: a command of the agent driver, the command of `exec`, and a webhook that an assistant plays with. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { startWebhook } from '../support/network.ts'
import { receiver } from '../webhooks/receiver.ts'
import { runCommand } from './fake-io.ts'
import { BIN, startProgram } from './program.ts'

const TOKEN = 'dt-0099887766/qWe4Rt6Yu8Io1Pa3Sd5F'
/** Wherever this is cut, a part of the secret is left. */
const LONG = `refused ${TOKEN} ${encodeURIComponent(TOKEN)} `.repeat(20)

/** The parts of the secret, of eight characters, that a text shows. */
const partsIn = (text: string): string[] =>
  Array.from(TOKEN.slice(7), (_, at) => TOKEN.slice(at, at + 8)).filter(part => text.includes(part))

function expectNoParts(cwd: string, ...outputs: string[]): void {
  for (const text of outputs) expect(partsIn(text)).toEqual([])
  for (const name of readdirSync(cwd, { recursive: true, encoding: 'utf8' }))
    if (statSync(join(cwd, name)).isFile())
      expect([name, partsIn(readFileSync(join(cwd, name), 'utf8'))]).toEqual([name, []])
}

const REPORTS = 'pretty,json=r.json,junit=r.xml,html=r.html,tap=r.tap'

it('a secret that a command of the driver prints on stderr is in no report', async () => {
  const { url } = await receiver()
  const files = {
    's.yaml': 'version: 1\nname: One\nsteps: [{ press: handover }, { agent: accept }, { expect: start }]\n',
    'd.yaml': `version: 1\naccept: { exec: [${JSON.stringify(process.execPath)}, agent.mjs, $(env.DESK_TOKEN)] }\n`,
    'agent.mjs': 'console.error(("refused " + process.argv[2] + " ").repeat(20))\nprocess.exit(1)\n',
  }
  const argv = [
    'run',
    's.yaml',
    '--port',
    '0',
    '--target',
    url,
    '--agent-driver',
    'd.yaml',
    '--report',
    `${REPORTS},journal=r.jsonl`,
  ]
  const { code, out, err, cwd } = await runCommand(argv, { files, env: { DESK_TOKEN: TOKEN } })
  expect([code, out]).toEqual([1, expect.stringContaining('refused ***')])
  expectNoParts(cwd, out, err)
  expect(readdirSync(cwd)).toEqual(expect.arrayContaining(['r.json', 'r.xml', 'r.html', 'r.jsonl', 'r.tap']))
})

it('a key that the command of exec sends in texts is in no report', async () => {
  const script = `const { HANDOVER_SIM_URL: url, HANDOVER_SIM_API_KEY: key, HANDOVER_SIM_BOT_ID: bot } = process.env
const { chat_id } = await (await fetch(url + '/_sim/chats', { method: 'POST', body: '{}' })).json()
for (const path of ['start', 'message', 'x']) await fetch(url + '/api/v2/handover/' + path, { method: 'POST',
  headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
  body: JSON.stringify({ bot_id: Number(bot), chat_id, sender: { name: (key + ' ').repeat(20) }, message: (key + ' ').repeat(99) }) })`
  const cwd = folderWith()
  const command = ['--', process.execPath, '--input-type=module', '-e', script]
  const argv = [process.execPath, BIN, 'exec', '--api-key', TOKEN, '--report', REPORTS, ...command]
  const { stdout, stderr, code } = startProgram(argv, { cwd })
  expect([await code, stderr.text]).toEqual([0, expect.stringContaining('json report: r.json')])
  expectNoParts(cwd, stdout.text, stderr.text)
})

it('an assistant gets no part of a key that the webhook repeats', async () => {
  await using webhook = await startWebhook((_, response) => response.writeHead(500).end(LONG))
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  const args = [BIN, 'mcp', '--port', '0', '--api-key', TOKEN, '--webhook-url', webhook.url]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folderWith(), stderr: 'pipe' }))
  const calls = { open_chat: { ask_for_agent: true }, user: { text: LONG }, journal: {}, explain: {} }
  for (const [name, input] of Object.entries(calls))
    expect([name, partsIn(JSON.stringify(await client.callTool({ name, arguments: input })))]).toEqual([name, []])
})
