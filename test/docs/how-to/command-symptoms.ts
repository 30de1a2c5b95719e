/** Causes the symptoms of docs/how-to/troubleshooting.md that commands show: with the mistake, and with its fix. */
import { createServer } from 'node:http'
import { main } from '../../../src/commands/main.ts'
import { startSimulator } from '../../../src/index.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { startWebhook } from '../../support/network.ts'
import { freePort } from '../../support/port.ts'
import type { Symptom } from './call-symptoms.ts'

type Files = Readonly<Record<string, string>>

async function command(argv: readonly string[], files: Files = {}, env: Files = {}): Promise<string> {
  const io = fakeIo(folderWith(files))
  await main([...argv], { NO_COLOR: '1', ...env }, io)
  return io.stdout.text + io.stderr.text
}

const scenario = (...steps: string[]) => `version: 1\nname: One\nsteps:\n${steps.map(step => `  - ${step}\n`).join('')}`
const CHECK = 'check: { status: pending }'
const PRESS = { 's.yaml': scenario('press: handover', CHECK) }

async function onServer(use: (port: string, url: string) => Promise<string>, options: object = {}): Promise<string> {
  await using server = await startSimulator({ port: 0, ...options })
  const { port } = new URL(server.url)
  return (await use(port, server.url)).replaceAll(port, '4747')
}

/** A run against a webhook that accepts every event. */
async function played(files: Files, argv: readonly string[] = []): Promise<string> {
  await using webhook = await startWebhook()
  return await command(['run', 's.yaml', '--port', '0', '--target', webhook.url, ...argv], files)
}

/** A target that throws at an event, or not. */
const targetEnds: Symptom = async isFixed => {
  const port = await freePort()
  const answer = isFixed ? 'end()' : 'nothing.here'
  const files = {
    ...PRESS,
    'service.cjs': `require('node:http').createServer((request, response) => request.method === 'GET' ? response.end() : response.${answer}).listen(${port}, '127.0.0.1')`,
    'driver.yaml': `target: { start: ['${process.execPath}', service.cjs], ready: 'http://127.0.0.1:${port}/' }`,
  }
  const target = ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', 'driver.yaml']
  return command(['run', 's.yaml', '--port', '0', ...target], files)
}

const noSimulator: Symptom = async isFixed => {
  const wait = (port: string) => command(['wait', '--port', port, '--timeout', '200ms'])
  if (isFixed) return onServer(wait)
  const port = String(await freePort())
  return (await wait(port)).replaceAll(port, '4747').replace('200ms', '30s')
}

/** A server that answers the request to stop, and goes on. */
const doesNotEnd: Symptom = async isFixed => {
  if (isFixed) return command(['stop', '--port', String(await freePort())])
  const server = createServer((_, response) => response.end(JSON.stringify({ stopping: true, pid: process.pid })))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const port = String((server.address() as { port: number }).port)
  const seen = await command(['stop', '--port', port, '--timeout', '300ms'])
  server.closeAllConnections()
  server.close()
  return seen.replaceAll(port, '4747').replace('300ms', '15s')
}

const BODY = '{"foo":1,"bar":2}'

export const COMMAND_SYMPTOMS: Readonly<Record<string, Symptom>> = {
  'A signature differs': isFixed =>
    command(
      [
        'verify',
        '--body',
        'body.json',
        '--key',
        'examplekey',
        '--signature',
        'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=',
      ],
      { 'body.json': isFixed ? BODY : '{"foo": 1, "bar": 2}' },
    ),
  'The port is in use': isFixed =>
    onServer(async port => {
      const free = isFixed ? '0' : port
      const started = startSimulator({ port: Number(free) })
      return started.then(server => server.close()).then(() => 'served', String)
    }),
  'No simulator is ready': noSimulator,
  'The control API asks for a token': isFixed =>
    onServer(
      (_, url) =>
        command(['trigger', 'MESSAGE FROM USER', '--url', url], {}, isFixed ? { HANDOVER_SIM_TOKEN: 'mine' } : {}),
      { controlToken: 'mine' },
    ),
  'The simulator in the background does not end': doesNotEnd,
  'The intermediary ends by itself': targetEnds,
  'A scenario is inconclusive': isFixed =>
    played({
      ...PRESS,
      's.yaml': scenario('press: handover', ...(isFixed ? [] : ['agent: accept']), CHECK),
    }),
}
