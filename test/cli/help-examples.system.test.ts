/** Runs what the help of each command shows at its end: the built package, as a user types it. `npm test` builds first. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { keysOf } from '../../src/base/objects.ts'
import { COMMANDS, importCommand } from '../../src/commands/main.ts'
import { startSimulator } from '../../src/index.ts'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { openExample } from '../support/example-service.ts'
import { freePort } from '../support/port.ts'
import { BIN, startProgram } from './program.ts'

const STARTED = JSON.stringify({
  event: 'TAKEOVER STARTED',
  chat_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  chatmessage_id: '65d4c0f1a2b3c4d5e6f70819',
})
const CALL = '{"chat_id":"0f8fad5b-d9cb-469f-a165-70867728950e","sender":{"name":"Anna"},"bot_id":1042}'
const REQUEST = { method: 'POST', url: 'https://bot.example.test/api/v2/handover/start', headers: [] }
const json = (text: string) => ({ mimeType: 'application/json', text })
const HAR_ENTRY = {
  ...{ startedDateTime: '2026-01-05T10:00:00.000Z', time: 12, request: { ...REQUEST, postData: json(CALL) } },
  response: { status: 200, headers: [], content: json(STARTED) },
}
const SCENARIO = 'version: 1\nname: Takeover\nsteps:\n  - press: handover\n  - agent: accept\n  - expect: start\n'

/** What has to be there before the example, as commands. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  report: [1, 2].map(
    shard =>
      `run builtin:happy-path.yaml builtin:typing.yaml --shard ${shard}/2 --self-test --report journal=.handover-sim/journal.jsonl,journal=shard-${shard}.jsonl`,
  ),
}

/** The shell is replaced, so that a signal reaches the command. */
const shell = (line: string, cwd: string, env: Readonly<Record<string, string>>) =>
  startProgram(['/bin/sh', '-c', `exec "$0" "$1" ${line}`, process.execPath, BIN], {
    cwd,
    env: { HOME: cwd, CI: '1', ...env },
  })

const EXAMPLES = (
  await Promise.all(
    keysOf(COMMANDS).map(async name =>
      Object.keys((await importCommand(name)).examples).map(line => ({ command: name, line })),
    ),
  )
).flat()

beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
afterAll(() => void vi.restoreAllMocks())

describe('the examples of the help', () => {
  it.for(EXAMPLES)('$line', async ({ command, line }) => {
    const cwd = folderWith({
      scenarios: null,
      'scenarios/takeover.yaml': SCENARIO,
      'package.json': '{"scripts":{"test":"true"}}',
      'session.har': JSON.stringify({ log: { entries: [HAR_ENTRY] } }),
      'body.json': '{"foo":1,"bar":2}',
    })
    const platformPort = String(await freePort())
    const platformUrl = `http://127.0.0.1:${platformPort}`
    const example = await openExample({ platformUrl })
    onTestFinished(() => example.close())
    const { host } = new URL(example.webhookUrl)
    let typed = line.replaceAll('127.0.0.1:3000', host)
    writeFileSync(join(cwd, 'driver.yaml'), example.driver)
    if (command === 'exec') {
      // The command of the example starts the service.
      await example.close()
      const main = JSON.stringify(`${ROOT}examples/intermediary/main.js`)
      writeFileSync(join(cwd, 'server.js'), `process.env.PORT = '${host.split(':')[1]}'; import(${main})`)
    }
    const env: Record<string, string> = { HANDOVER_SIM_PORT: platformPort }
    if (command === 'stop') {
      const started = shell(`start --webhook-url ${example.webhookUrl}`, cwd, env)
      await started.stdout.until(/Ready/)
    } else if (['trigger', 'resend', 'record', 'wait'].includes(command)) {
      const sim = await startSimulator({ port: Number(platformPort), webhook: { url: example.webhookUrl } })
      onTestFinished(() => sim.close())
      await (await sim.chat()).press('handover')
      typed = typed.replace('0f8fad5b-d9cb-469f-a165-70867728950e', sim.deliveries[0]!.delivery_id)
    }
    for (const before of BEFORE[command] ?? []) await shell(before, cwd, env).code

    const { child, stdout, stderr, code } = shell(typed, cwd, env)
    const servesOn = command === 'proxy' || (command === 'start' && !line.includes('--detach'))
    if (servesOn) {
      await Promise.race([stdout.until(/Ready: http/), code])
      child.kill('SIGTERM')
    }
    // A load says with 4 that this machine was too busy to measure.
    const expected = servesOn ? [143] : command === 'load' ? [0, 4] : [0]
    expect(expected, `${stdout.text}\n${stderr.text}`).toContain(await code)
    if (line.includes('--detach')) await shell('stop', cwd, env).code
  })
})
