// Compiles the files of consumer/ against the packed package with old and new TypeScript, all module resolutions and no
// skipLibCheck: for each file, each compiler and each resolution at least once. Arguments: the tarball and a working folder.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
    checks: { 'ts-5.4': ['node16'], 'ts-5.9': ['bundler'], 'ts-7': ['node16', 'bundler'] },
  },
  {
    file: 'commonjs.cts',
    install: {},
    checks: { 'ts-5.4': ['node10'], 'ts-5.9': ['node16'], 'ts-7': ['node16'] },
  },
  {
    file: 'with-peers.ts',
    install: { msw: '^2.15.0', vitest: '^5.1.1', zod: '^4.6.7' },
    checks: { 'ts-5.9': ['node16'], 'ts-7': ['bundler'] },
  },
  {
    file: 'example.test.ts',
    folder: '../test/docs/unit-tests',
    beside: ['app.ts'],
    install: { vitest: '^5.1.1' },
    checks: { 'ts-5.9': ['bundler'], 'ts-7': ['node16'] },
    // A project without the types of a browser.
    options: ['--lib', 'es2023', '--allowImportingTsExtensions'],
  },
]

let failed = 0
const compilerFolder = join(folder, 'compilers')
install(compilerFolder, { devDependencies: COMPILERS })
for (const { checks, ...given } of PROJECTS) {
  const project = { folder: 'consumer', beside: [], options: [], ...given, path: join(folder, nameOf(given.file)) }
  makeProject(project)
  for (const [compiler, resolutions] of Object.entries(checks))
    for (const resolution of resolutions) check(project, compiler, resolution)
}
process.exitCode = failed === 0 ? 0 : 1

function nameOf(file) {
  return file.replace(/(\.test)?\.\w+$/, '')
}

/** Writes the files with the names of the package. */
function makeProject({ path, file, beside, folder: from, install: peers }) {
  install(path, {
    type: 'module',
    dependencies: { 'handover-sim': `file:${tarball}` },
    devDependencies: { '@types/node': '^24.0.0', ...peers },
  })
  for (const one of [file, ...beside]) {
    const text = readFileSync(fileURLToPath(new URL(`${from}/${one}`, import.meta.url)), 'utf8')
    const asUser = text.replace('../../../src/testing/vitest/index.ts', 'handover-sim/vitest')
    writeFileSync(join(path, one), asUser.replace('../../../src/index.ts', 'handover-sim'))
  }
}

/** Makes a folder with these packages. */
function install(path, manifest) {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, ...manifest }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: path, stdio: 'inherit' })
}

function check({ path, file, options }, compiler, resolution) {
  const modules = ['--module', MODULES[resolution], '--moduleResolution', resolution]
  const tsc = join(compilerFolder, 'node_modules', compiler, 'bin/tsc')
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, ...OPTIONS, ...options, ...modules, file], {
    cwd: path,
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
