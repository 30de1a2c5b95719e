/** Runs what docs/how-to/docker-and-compose.md tells Docker to run, as processes of this machine in the same order. */
import { copyFileSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../../src/commands/main.ts'
import { fakeIo } from '../../cli/fake-io.ts'
import { BIN } from '../../cli/program.ts'
import { folderWith } from '../../config/folder.ts'
import { freePort } from '../../support/port.ts'
import { blocks, hasShell, pathOf, read, rows, section } from '../pages.ts'
import { createProject } from '../project.ts'

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
  const programs = { 'handover-sim': `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, docker: '#!/bin/sh\n' }
  const driver = read('examples/intermediary/driver.yaml').replace('127.0.0.1:3000', `127.0.0.1:${intermediary}`)
  const files = { 'driver.yaml': driver, scenarios: null, reports: null }
  const { folder, start } = createProject(files, { env: { HANDOVER_SIM_PORT: String(simulator) }, programs })
  copyFileSync(pathOf('scenarios/happy-path.yaml'), join(folder, 'scenarios/happy-path.yaml'))
  const local = (text: string) =>
    text
      .replace(/\b(handover-sim|127\.0\.0\.1):4747/g, `127.0.0.1:${simulator}`)
      .replaceAll('intermediary:3000', `127.0.0.1:${intermediary}`)
      .replaceAll('"3000"', `"${intermediary}"`)
  const services = servicesOf(local(compose))
  const [hostName = '', host = ''] = (IMAGE.get('ENV') ?? '').split('=')
  const environment = { [hostName]: host, ...services['handover-sim']?.environment }
  /** Runs a list of the image. */
  const run = (words: readonly string[], env: Readonly<Record<string, string>> = environment) =>
    start(`exec ${words.map(word => `'${word}'`).join(' ')}`, env)
  const startIntermediary = () =>
    run([process.execPath, pathOf('examples/intermediary/main.js')], services.intermediary?.environment).stdout.until(
      /Ready/,
    )
  return { folder, local, start, run, startIntermediary, simulator }
}

/** The check with a longer time: Docker tries again. */
const patientCheck = [...listOf('HEALTHCHECK').slice(0, -1), '60s']

/** The answer to a call of the platform with this `Host`. */
const statusFor = (port: number, host: string) =>
  new Promise<[number | undefined, boolean]>((resolve, reject) =>
    get({ port, host: '127.0.0.1', path: '/api/v1/chats/x', headers: { host } }, response => {
      response.resume()
      resolve([response.statusCode, 'x-handover-sim-internal-error' in response.headers])
    }).on('error', reject),
  )

it('the image installs this package, and services publish ports to this machine only', () => {
  const { name, engines } = JSON.parse(read('package.json')) as { name: string; engines: { node: string } }
  expect(IMAGE.get('RUN')).toMatch(new RegExp(`^npm install --global ${name}@`))
  const version = Number(/node:(\d+)/.exec(IMAGE.get('FROM') ?? '')?.[1])
  expect(version).toBeGreaterThan(Number.parseInt(engines.node.slice(2), 10))
  const services = servicesOf(compose)
  expect(Object.keys(services)).toEqual(['handover-sim', 'intermediary'])
  for (const { ports = [], depends_on = {}, build } of Object.values(services)) {
    expect(build).toBeDefined()
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/)
    expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(depends_on)))
    for (const { condition } of Object.values(depends_on)) expect(condition).toBe('service_healthy')
  }
  const { volumes = [] } = servicesOf(scenarios)['handover-sim']!
  for (const volume of volumes) expect(volume).toMatch(/^\.(\/[\w.]+):\1(:ro)?$/)
})

describe.skipIf(!hasShell)('the containers (need bash and curl)', () => {
  it('start, are healthy, know each other by name, take commands from outside, and stop', async () => {
    const { local, start, run, startIntermediary, simulator } = await network()
    expect(await run(listOf('HEALTHCHECK')).code).toBe(3)
    const server = run([...listOf('ENTRYPOINT'), ...listOf('CMD')])
    await server.stdout.until(/Ready/)
    expect(await run(patientCheck).code).toBe(0)
    for (const name of ['handover-sim', 'host.docker.internal'])
      expect(await statusFor(simulator, `${name}:4747`)).not.toEqual([403, true])
    expect(await statusFor(simulator, 'simulator.example.test')).toEqual([403, true])

    await startIntermediary()
    const outside = start(local(typed))
    expect(await outside.code, outside.stderr.text).toBe(0)
    expect(outside.stdout.text + outside.stderr.text).toContain('REQUESTING TAKEOVER delivered: 200')
    const withoutToken = run([...listOf('ENTRYPOINT'), 'trigger', 'REQUESTING TAKEOVER'], {})
    expect(await withoutToken.code).not.toBe(0)
    expect(withoutToken.stderr.text).toContain('The simulator needs its control token')

    server.child.kill('SIGTERM')
    expect(await server.code).toBe(143)
  })

  it('run scenarios: the run is healthy, then the intermediary starts, then the run ends', async () => {
    const { folder, local, run, startIntermediary } = await network()
    const { command = [] } = servicesOf(local(scenarios))['handover-sim']!
    expect(playing).toContain('-f compose.scenarios.yaml up')
    const inFolder = command.map(word => word.replace(/(^|=)\/(?=scenarios|driver|reports)/g, `$1${folder}/`))
    const scenarioRun = run([...listOf('ENTRYPOINT'), ...inFolder])
    expect(await run(patientCheck).code).toBe(0)
    await startIntermediary()
    expect(await scenarioRun.code, scenarioRun.stderr.text).toBe(0)
    expect(readFileSync(join(folder, 'reports/junit.xml'), 'utf8')).toContain('Happy path')
  })
})

it.each([
  ['127.0.0.1 only', ['--target', 'http://intermediary:3000/webhook'], -2],
  ['an unknown name', ['--target', 'http://intermediary.invalid:3000/webhook', '--allow-remote'], -1],
])('the page shows the error of the command: %s', async (_, flags, row) => {
  const [shown = ''] = rows(section(PAGE, 'When it does not work')).at(row)!
  const io = fakeIo(folderWith())
  await main(['run', 'builtin:happy-path.yaml', '--port', '0', ...flags], {}, io)
  const text = (io.stdout.text + io.stderr.text).replace(/\s+/g, ' ').replaceAll('intermediary.invalid', 'intermediary')
  expect(text).toContain(shown.replaceAll('`', ''))
})
