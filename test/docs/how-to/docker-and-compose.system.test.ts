/** Runs what docs/how-to/docker-and-compose.md tells Docker to run, as processes of this machine in the same order. */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { sendRaw } from '../../attack/attacked-server.ts'
import { BIN } from '../../cli/program.ts'
import { freePort } from '../../support/port.ts'
import { blocks, hasShell, pathOf, read } from '../pages.ts'
import { createProject } from '../project.ts'

const PAGE = read('docs/how-to/docker-and-compose.md')
const [dockerfile = ''] = blocks(PAGE, 'dockerfile')
const [compose = '', scenarios = ''] = blocks(PAGE, 'yaml')
const [typed = '', playing = ''] = blocks(PAGE, 'sh')

/** Arguments of the instructions of the image, by name. */
const IMAGE = new Map(dockerfile.split('\n').map(line => [line.split(' ')[0]!, line.slice(line.indexOf(' ') + 1)]))
const listOf = (instruction: string): string[] => JSON.parse(/\[.*\]/.exec(IMAGE.get(instruction) ?? '')![0])

interface Service {
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
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

/** Whether a call of the platform with this `Host` is refused. */
const isRefused = async (port: number, host: string): Promise<boolean> => {
  const { headers } = await sendRaw(port, { method: 'GET', path: '/api/v1/chats/x', headers: { host } })
  return 'x-handover-sim-internal-error' in headers
}

describe.skipIf(!hasShell)('the containers (need bash and curl)', () => {
  it('start, are healthy, know each other by name, take commands from outside, and stop', async () => {
    const { local, start, run, startIntermediary, simulator } = await network()
    expect(await run(listOf('HEALTHCHECK')).code).toBe(3)
    const server = run([...listOf('ENTRYPOINT'), ...listOf('CMD')])
    await server.stdout.until(/Ready/)
    expect(await run(patientCheck).code).toBe(0)
    for (const name of ['handover-sim', 'host.docker.internal'])
      expect(await isRefused(simulator, `${name}:4747`)).toBe(false)
    expect(await isRefused(simulator, 'simulator.example.test')).toBe(true)

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
