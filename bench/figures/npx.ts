/** Measures the start by `npx` and the installation of the packed package beside an empty one, from a local registry. */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempDisposableSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../processes.ts'
import { atMost, createRow, type Goal, type Row, valueAtMost } from '../rows.ts'
import type { Settings } from '../settings.ts'

/** A packed package and the arguments of its command. */
interface Packed {
  readonly name: string
  readonly manifest: { readonly version: string }
  readonly tarball: Buffer
  readonly command: readonly string[]
}

/** The folder and environment of npm: its own cache and registry, so that the caches of this machine have no effect. */
interface NpmContext {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

/** The first start and the first installation of each are not counted: they fill the caches. */
export async function npx({ rounds }: Settings): Promise<Row[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const bare = pack(emptyPackage(folder.path), folder.path, [])
  const ours = pack(ROOT, folder.path, ['start', '--port', '0'])
  const zod = pack(join(ROOT, 'node_modules/zod'), folder.path, [])
  using registry = await startRegistry([bare, ours, zod])
  const env = { ...process.env, npm_config_cache: join(folder.path, 'cache'), npm_config_registry: registry.url }
  const context = { folder: folder.path, env }
  const { bytes, ownBytes } = await installOnce(ours, context)
  const started = await alternately(rounds, one => firstLine(one, context), ours, bare)
  const installed = await alternately(rounds, async one => (await installOnce(one, context)).ms, ours, bare)
  return [
    compared('npx handover-sim start to the ready line', started, atMost(1.15)),
    compared('npm install, warm cache', installed, atMost(4)),
    createRow({
      figure: 'npx',
      name: 'installed size, with zod',
      unit: 'MiB',
      values: [mib(bytes)],
      goal: valueAtMost(14.5),
    }),
    createRow({
      figure: 'npx',
      name: 'installed size, without zod',
      unit: 'MiB',
      values: [mib(ownBytes)],
      goal: valueAtMost(8.5),
    }),
  ]
}

/** Starts a registry that serves only these packages. */
async function startRegistry(packages: readonly Packed[]): Promise<Disposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const found = packages.find(({ name }) => request.url?.startsWith(`/${name}`))
    if (!found) return response.writeHead(404).end('{}')
    if (request.url?.endsWith('.tgz')) return response.end(found.tarball)
    const { name, manifest, tarball } = found
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const dist = { tarball: `http://${request.headers.host}/${name}.tgz`, integrity }
    const { version } = manifest
    response.setHeader('cache-control', 'public, max-age=300').setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.dispose]: () => void server.close(),
  }
}

function emptyPackage(folder: string): string {
  const path = join(folder, 'empty-package')
  mkdirSync(path)
  const manifest = { name: 'empty-package', version: '1.0.0', bin: { 'empty-package': 'bin.js' } }
  writeFileSync(join(path, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(path, 'bin.js'), "#!/usr/bin/env node\nconsole.log('Ready')\n", { mode: 0o755 })
  return path
}

function pack(path: string, folder: string, args: readonly string[]): Packed {
  const command = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const file = execFileSync('npm', command, { cwd: path, encoding: 'utf8' }).trim()
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { name: string; version: string }
  return { name: manifest.name, manifest, tarball: readFileSync(join(folder, file)), command: args }
}

/** Runs npm asynchronously, because this process is its registry. */
async function npm(args: readonly string[], cwd: string, { env }: NpmContext): Promise<void> {
  const child = spawn('npm', [...args, '--silent'], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`Failed to run npm ${args.join(' ')}: exit code ${code}`)
}

interface Installed {
  readonly ms: number
  readonly bytes: number
  readonly ownBytes: number
}

async function installOnce({ name }: Packed, context: NpmContext): Promise<Installed> {
  const project = mkdtempSync(join(context.folder, 'project-'))
  writeFileSync(join(project, 'package.json'), '{"name":"user","private":true}')
  const from = performance.now()
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', name], project, context)
  const ms = performance.now() - from
  const modules = join(project, 'node_modules')
  return { ms, bytes: sizeOf(modules), ownBytes: sizeOf(join(modules, name)) }
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(file => statSync(join(folder, file)))
    .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)
const mib = (bytes: number): number => bytes / 2 ** 20

interface Times {
  readonly ours: number[]
  readonly bare: number[]
}

async function alternately(
  rounds: number,
  measure: (one: Packed) => Promise<number>,
  ours: Packed,
  bare: Packed,
): Promise<Times> {
  const times: Times = { ours: [], bare: [] }
  for (let round = 0; round <= rounds; round++) {
    times.bare.push(await measure(bare))
    times.ours.push(await measure(ours))
  }
  return { ours: times.ours.slice(1), bare: times.bare.slice(1) }
}

async function firstLine({ name, command }: Packed, { folder, env }: NpmContext): Promise<number> {
  const from = performance.now()
  const args = ['exec', '--yes', '--silent', '--prefer-offline', `--package=${name}`, '--', name, ...command]
  // A process group, so that the signal below also ends the processes that npm starts.
  const child = spawn('npm', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const ended = once(child, 'close')
  const [line] = await Promise.race([once(child.stdout, 'data'), ended])
  if (!String(line).startsWith('Ready'))
    throw new Error(`Failed to run npm ${args.join(' ')}: expected a ready line, received ${line}`)
  const took = performance.now() - from
  // Node writes its compile cache when a process ends by itself, and not when it is killed.
  if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM')
  child.stdout.resume()
  await ended
  return took
}

const compared = (name: string, { ours, bare }: Times, goal: Goal): Row =>
  createRow({ figure: 'npx', name, unit: 'ms', values: ours, yardstick: bare, goal })
