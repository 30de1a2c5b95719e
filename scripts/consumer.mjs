// Compiles the files of consumer/ against the packed package with old and new TypeScript, both module resolutions and no
// skipLibCheck. Arguments: the tarball and a working folder.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [tarball, folder] = process.argv.slice(2).map(path => resolve(path))
const COMPILERS = {
  'ts-5.4': 'npm:typescript@~5.4.5',
  'ts-5.9': 'npm:typescript@~5.9.3',
  'ts-7': 'npm:typescript@^7.0.2',
}
const MODULES = { node10: 'commonjs', node16: 'node16', bundler: 'esnext' }
const OPTIONS = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', '--skipLibCheck', 'false']

const PROJECTS = [
  {
    file: 'without-peers.ts',
    install: {},
    compilers: ['ts-5.4', 'ts-5.9', 'ts-7'],
    resolutions: ['node16', 'bundler'],
  },
  {
    file: 'commonjs.cts',
    install: {},
    compilers: ['ts-5.4', 'ts-5.9', 'ts-7'],
    resolutions: ['node10', 'node16'],
  },
  {
    file: 'with-peers.ts',
    install: { msw: '^2.15.0', vitest: '^5.1.1', zod: '^4.6.7' },
    compilers: ['ts-5.9', 'ts-7'],
    resolutions: ['node16', 'bundler'],
  },
]

let failed = 0
for (const { file, install, compilers, resolutions } of PROJECTS) {
  const project = join(folder, file.replace(/\.\w+$/, ''))
  makeProject(project, file, install)
  const known = compiler => resolutions.filter(resolution => compiler !== 'ts-7' || resolution !== 'node10')
  for (const compiler of compilers) for (const resolution of known(compiler)) check(project, file, compiler, resolution)
}
process.exitCode = failed === 0 ? 0 : 1

function makeProject(project, file, install) {
  rmSync(project, { recursive: true, force: true })
  mkdirSync(project, { recursive: true })
  cpSync(fileURLToPath(new URL(`consumer/${file}`, import.meta.url)), join(project, file))
  const devDependencies = { '@types/node': '^24.0.0', ...COMPILERS, ...install }
  const manifest = {
    private: true,
    type: 'module',
    dependencies: { 'handover-sim': `file:${tarball}` },
    devDependencies,
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: project, stdio: 'inherit' })
}

function check(project, file, compiler, resolution) {
  const modules = ['--module', MODULES[resolution], '--moduleResolution', resolution]
  const tsc = join(project, 'node_modules', compiler, 'bin/tsc')
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, ...OPTIONS, ...modules, file], {
    cwd: project,
    encoding: 'utf8',
  })
  // Ignores errors in the declarations of other packages.
  const ours = `${stdout}${stderr}`
    .split('\n')
    .filter(line => line !== '' && !/^(\s|node_modules\/(?!handover-sim\/))/.test(line))
  console.log(`${ours.length === 0 ? 'ok    ' : 'FAILED'} ${file} with ${compiler}, ${resolution}`)
  if (ours.length > 0) console.log(ours.join('\n'))
  failed += ours.length
}
