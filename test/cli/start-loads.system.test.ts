import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** Prints in place of the ready line which modules of Node and which files are loaded. */
const SCRIPT = `
const { write } = process.stdout
process.stdout.write = () => {
  write.call(process.stdout, JSON.stringify({ modules: process.moduleLoadList, files: Object.keys(require.cache) }))
  process.exit()
}
require(process.argv[1]).main(['start', '--port', '0'])
`

interface Loaded {
  readonly modules: readonly string[]
  readonly files: readonly string[]
}

const start = (): Loaded => JSON.parse(execFileSync(process.execPath, ['-e', SCRIPT, CLI], { encoding: 'utf8' }))

it('is ready before Node has loaded what a start does not need', () => {
  const { modules, files } = start()
  expect(modules).toContain('NativeModule http')
  const late = ['fs/promises', 'internal/deps/undici/undici', 'stream/consumers']
  expect(late.filter(name => modules.includes(`NativeModule ${name}`))).toEqual([])
  // zod and the schemas of the contract load with the first call.
  expect(files.filter(file => readFileSync(file, 'utf8').includes('$constructor('))).toEqual([])
  const chunks = files.map(file => basename(file, '.cjs').replace(/-.{8}$/, ''))
  expect(chunks.filter(name => /undici|faker|certif|runner|suite|page|chalk/.test(name))).toEqual([])
})

/** Plays a scenario. The last line of the output names the files that were loaded when the intermediary was started. */
const SCRIPT_OF_RUN = `
const programs = require('node:child_process')
const { spawn } = programs
let before
programs.spawn = (...args) => {
  before = Object.keys(require.cache)
  return spawn(...args)
}
process.on('exit', () => {
  const loaded = { before, files: Object.keys(require.cache), modules: process.moduleLoadList }
  require('node:fs').writeSync(1, '\\n' + JSON.stringify(loaded))
})
require(process.argv[1]).main(['run', process.argv[2], '--self-test']).then(code => {
  process.exitCode = code
})
`

it('loads the runner while the intermediary starts', () => {
  const happyPath = fileURLToPath(new URL('../../scenarios/happy-path.yaml', import.meta.url))
  const command = ['-e', SCRIPT_OF_RUN, CLI, happyPath]
  const output = execFileSync(process.execPath, command, { encoding: 'utf8', cwd: folderWith(), stdio: 'pipe' })
  const { before, files }: Loaded & { before: string[] } = JSON.parse(output.split('\n').at(-1)!)
  const ofRunner = (file: string) => /^(run-suite|suite)-/.test(basename(file))
  expect(before.filter(ofRunner)).toEqual([])
  expect(files.filter(ofRunner)).toHaveLength(2)
})
