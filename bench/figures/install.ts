/** The packed package as a user gets it, against one with nothing in it: installing, and `npx` to the first line. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figure, median } from '../process.ts'

const root = new URL('../..', import.meta.url).pathname
const ROUNDS = 7

/** A package, its command, and what to run of it. */
interface Packed {
  readonly tarball: string
  readonly command: readonly string[]
}

export async function install(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-install-'))
  try {
    const bare = { tarball: pack(emptyPackage(folder), folder), command: ['empty-package'] }
    const ours = { tarball: pack(root, folder), command: ['handover-sim', 'start', '--port', '0'] }
    return [...installed(folder, ours, bare), await started(folder, ours, bare)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
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

/** A cache of its own: what is there already is none of our business. */
const envIn = (folder: string) => ({ ...process.env, npm_config_cache: join(folder, 'cache') })

function npm(args: readonly string[], cwd: string, folder: string): string {
  return execFileSync('npm', [...args, '--silent'], { cwd, env: envIn(folder), encoding: 'utf8' }).trim()
}

const pack = (path: string, folder: string): string =>
  join(folder, npm(['pack', '--ignore-scripts', '--pack-destination', folder], path, folder))

function installOnce({ tarball }: Packed, folder: string): { ms: number; bytes: number; packages: number } {
  const project = mkdtempSync(join(folder, 'project-'))
  writeFileSync(join(project, 'package.json'), '{"name":"user","private":true}')
  const from = performance.now()
  npm(['install', '--no-audit', '--no-fund', tarball], project, folder)
  const ms = performance.now() - from
  const modules = join(project, 'node_modules')
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' }).map(file => statSync(join(modules, file)))
  const packages = readdirSync(modules).filter(name => !name.startsWith('.')).length
  return { ms, bytes: files.reduce((sum, { size }) => sum + size, 0), packages }
}

function installed(folder: string, ours: Packed, bare: Packed): Figure[] {
  const times = { ours: [] as number[], bare: [] as number[] }
  const { bytes, packages } = installOnce(ours, folder)
  installOnce(bare, folder)
  for (let round = 0; round < ROUNDS; round++) {
    times.bare.push(installOnce(bare, folder).ms)
    times.ours.push(installOnce(ours, folder).ms)
  }
  const size = {
    value: `${(bytes / 1e6).toFixed(1)} MB in ${packages}`,
    yardstick: '',
    ratio: '',
    goal: '<= 12 MB in 8',
  }
  return [
    { name: 'installed size, packages', ...size },
    compared('npm install, warm cache', times.ours, times.bare, '<= 1 s more'),
  ]
}

async function started(folder: string, ours: Packed, bare: Packed): Promise<Figure> {
  const times = { ours: [] as number[], bare: [] as number[] }
  for (const one of [ours, bare]) await firstLine(one, folder)
  for (let round = 0; round < ROUNDS; round++) {
    times.bare.push(await firstLine(bare, folder))
    times.ours.push(await firstLine(ours, folder))
  }
  return compared('npx to the ready line, warm cache', times.ours, times.bare, '<= 1 s more')
}

async function firstLine({ tarball, command }: Packed, folder: string): Promise<number> {
  const from = performance.now()
  const args = ['exec', '--yes', '--silent', `--package=${tarball}`, '--', ...command]
  // A group of its own: npm's child is ended with it.
  const child = spawn('npm', args, {
    cwd: folder,
    env: envIn(folder),
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const ended = new Promise(resolve => child.once('exit', resolve))
  await new Promise(resolve => child.stdout.once('data', resolve))
  const took = performance.now() - from
  if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
  await ended
  return took
}

function compared(name: string, ours: number[], bare: number[], goal: string): Figure {
  const [mine, yardstick] = [median(ours), median(bare)]
  const ms = (value: number) => `${value.toFixed(0)} ms`
  return { name, value: ms(mine), yardstick: ms(yardstick), ratio: (mine / yardstick).toFixed(2), goal }
}
