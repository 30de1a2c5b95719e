/** Runs what docs/how-to/docker-and-compose.md tells Docker to run, as processes of this machine in the same order. */
import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../../src/commands/main.ts'
import { fakeIo, fakeOutput } from '../../cli/fake-io.ts'
import { folderWith } from '../../config/folder.ts'
import { freePort } from '../../support/port.ts'
import { blocks, hasShell, pathOf, read, rows, section } from '../pages.ts'

const PAGE = read('docs/how-to/docker-and-compose.md')
const [dockerfile = ''] = blocks(PAGE, 'dockerfile')
const [compose = '', scenarios = ''] = blocks(PAGE, 'yaml')
const [typed = '', playing = ''] = blocks(PAGE, 'sh')

/** Arguments of the instructions of the image, by name. */
const IMAGE = new Map(dockerfile.split('\n').map(line => [line.split(' ')[0]!, line.slice(line.indexOf(' ') + 1)]))
const listOf = (instruction: string): string[] => JSON.parse(/\[.*\]/.exec(IMAGE.get(instruction) ?? '')![0])

interface Service {
  readonly build?: string | object
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { condition: string }>>
}
const servicesOf = (text: string) => (parse(text) as { services: Readonly<Record<string, Service>> }).services

/** Runs commands as containers do, with ports of this test in place of the ports and names of the network. */
async function network() {
  const [simulator, intermediary] = [await freePort(), await freePort()]
  const bin = `'${process.execPath}' '${pathOf('bin/handover-sim.js')}' "$@"\n`
  const folder = folderWith({
    'handover-sim': `#!/bin/sh\nexec ${bin}`,
    npx: `#!/bin/sh\nshift\nexec ${bin}`,
    docker: '#!/bin/sh\n',
    'driver.yaml': read('examples/intermediary/driver.yaml').replace('127.0.0.1:3000', `127.0.0.1:${intermediary}`),
    scenarios: null,
    reports: null,
  })
  copyFileSync(pathOf('scenarios/happy-path.yaml'), join(folder, 'scenarios/happy-path.yaml'))
  for (const name of ['handover-sim', 'npx', 'docker']) chmodSync(join(folder, name), 0o755)
  const local = (text: string) =>
    text
      .replace(/\b(handover-sim|127\.0\.0\.1):4747/g, `127.0.0.1:${simulator}`)
      .replaceAll('intermediary:3000', `127.0.0.1:${intermediary}`)
      .replaceAll('"3000"', `"${intermediary}"`)
  const start = ([program = '', ...args]: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const env = { PATH: `${folder}:${process.env.PATH}`, HANDOVER_SIM_PORT: String(simulator), ...environment }
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const output = fakeOutput()
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', output.write)
    const code = new Promise<number | null>(resolve => child.on('close', resolve))
    return { child, output, code }
  }
  return { folder, local, start, simulator }
}

const [HOST_NAME = '', HOST = ''] = (IMAGE.get('ENV') ?? '').split('=')
const startIntermediary = ({ start }: Awaited<ReturnType<typeof network>>, { environment }: Service) =>
  start([process.execPath, pathOf('examples/intermediary/main.js')], environment)

/** The answer to a call of the platform with this `Host`. */
const statusFor = (port: number, host: string) =>
  new Promise<[number | undefined, boolean]>((resolve, reject) =>
    get({ port, host: '127.0.0.1', path: '/api/v1/chats/x', headers: { host } }, response => {
      response.resume()
      resolve([response.statusCode, 'x-handover-sim-internal-error' in response.headers])
    }).on('error', reject),
  )

describe('the files', () => {
  it('the image installs this package, and runs lists', () => {
    const { name, engines } = JSON.parse(read('package.json')) as { name: string; engines: { node: string } }
    expect(IMAGE.get('RUN')).toMatch(new RegExp(`^npm install --global ${name}@`))
    expect(Number(/node:(\d+)/.exec(IMAGE.get('FROM') ?? '')?.[1])).toBeGreaterThan(
      Number.parseInt(engines.node.slice(2), 10),
    )
    for (const instruction of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK']) expect(listOf(instruction)).not.toEqual([])
  })

  it('services depend on services with a check, and publish ports to this machine only', () => {
    const services = servicesOf(compose)
    expect(Object.keys(services)).toEqual(['handover-sim', 'intermediary'])
    expect(Object.keys(servicesOf(scenarios))).toEqual(['handover-sim'])
    for (const { ports = [], depends_on = {}, build } of Object.values(services)) {
      expect(build).toBeDefined()
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/)
      expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(depends_on)))
      for (const { condition } of Object.values(depends_on)) expect(condition).toBe('service_healthy')
    }
    for (const { volumes = [] } of Object.values(servicesOf(scenarios)))
      for (const volume of volumes) expect(volume).toMatch(/^\.(\/[\w.]+):\1(:ro)?$/)
  })
})

describe.skipIf(!hasShell)('the containers (need bash and curl)', () => {
  it('start, are healthy, know each other by name, take commands from outside, and stop', async () => {
    const net = await network()
    const services = servicesOf(net.local(compose))
    const environment = { [HOST_NAME]: HOST, ...services['handover-sim']?.environment }
    const unhealthy = net.start(listOf('HEALTHCHECK'), environment)
    expect(await unhealthy.code).toBe(3)

    const simulator = net.start([...listOf('ENTRYPOINT'), ...listOf('CMD')], environment)
    await simulator.output.until(/Ready/)
    expect(await net.start(listOf('HEALTHCHECK'), environment).code).toBe(0)
    for (const name of ['handover-sim', 'host.docker.internal'])
      expect(await statusFor(net.simulator, `${name}:4747`)).not.toEqual([403, true])
    expect(await statusFor(net.simulator, 'simulator.example.test')).toEqual([403, true])

    await startIntermediary(net, services.intermediary!).output.until(/Ready/)
    const outside = net.start(['bash', '--norc', '-euc', net.local(typed)])
    expect(await outside.code, outside.output.text).toBe(0)
    expect(outside.output.text).toContain('REQUESTING TAKEOVER delivered: 200')
    const without = net.start(listOf('ENTRYPOINT').concat('trigger', 'REQUESTING TAKEOVER'))
    expect(await without.code).not.toBe(0)
    expect(without.output.text).toContain('The simulator needs its control token')

    simulator.child.kill('SIGTERM')
    expect(await simulator.code).toBe(143)
  })

  it('play scenarios: the run is healthy, then the intermediary starts, then the run ends', async () => {
    const net = await network()
    const services = servicesOf(net.local(compose))
    const { command = [] } = servicesOf(net.local(scenarios))['handover-sim']!
    expect(playing).toContain('-f compose.scenarios.yaml up')
    const inFolder = command.map(word => word.replace(/(^|=)\/(?=scenarios|driver|reports)/g, `$1${net.folder}/`))
    const environment = { [HOST_NAME]: HOST, ...services['handover-sim']?.environment }
    const run = net.start([...listOf('ENTRYPOINT'), ...inFolder], environment)
    expect(await net.start([...listOf('HEALTHCHECK').slice(0, -1), '30s'], environment).code).toBe(0)
    await startIntermediary(net, services.intermediary!).output.until(/Ready/)
    expect(await run.code, run.output.text).toBe(0)
    expect(readFileSync(join(net.folder, 'reports/junit.xml'), 'utf8')).toContain('Happy path')
  })
})

it('the errors on the page are those of the command', async () => {
  const shown = rows(section(PAGE, 'When it does not work')).map(([cell = '']) => cell.replaceAll('`', ''))
  const errorOf = async (...args: string[]) => {
    const io = fakeIo(folderWith())
    await main(['run', 'builtin:happy-path.yaml', '--port', '0', ...args], {}, io)
    return (io.stdout.text + io.stderr.text).replace(/\s+/g, ' ')
  }
  const [elsewhere = '', unknown = ''] = shown.slice(-2)
  expect(await errorOf('--target', 'http://intermediary:3000/webhook')).toContain(elsewhere)
  const text = await errorOf('--target', 'http://intermediary.invalid:3000/webhook', '--allow-remote')
  expect(text.replaceAll('intermediary.invalid', 'intermediary')).toContain(unknown)
})
