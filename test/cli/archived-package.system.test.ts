/** The package in an archive, as with Plug'n'Play of yarn: Node reads its files, but no process starts in its folders. */
import { expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { BIN, startProgram } from './program.ts'

/** The functions of Node as the hooks of yarn change them: `watch` returns a watcher whose `on` returns nothing. */
const HOOKS = `const { join } = require('node:path')
const isInside = path => join(String(path), '/').startsWith(${JSON.stringify(ROOT)})
const fs = require('node:fs')
const { watch } = fs
fs.watch = (path, ...rest) => isInside(path) ? { on() {}, close() {} } : watch(path, ...rest)
const processes = require('node:child_process')
const { spawn } = processes
processes.spawn = (file, args, options) =>
  spawn(file, args, isInside(options.cwd) || process.env.NO_PROCESS ? { ...options, cwd: join(__dirname, 'none') } : options)
`

function start(args: string, env = {}) {
  const folder = folderWith({ 'hooks.cjs': HOOKS })
  const command = [process.execPath, '--require', './hooks.cjs', BIN, ...args.split(' ')]
  return startProgram(command, { cwd: folder, env: { ...process.env, ...env } })
}

it('runs shipped scenarios against the reference intermediary', async () => {
  const { stdout, code } = start('run --builtin --only Happy --self-test')
  expect([await code, stdout.text]).toEqual([0, expect.stringContaining('exit 0')])
})

it('says what cannot be started, and names the target that has no URL yet', async () => {
  const { stdout, code } = start('run --builtin --only Happy --self-test --seed 7', { NO_PROCESS: '1' })
  expect(await code).toBe(3)
  const words = stdout.text.replace(/\s+/g, ' ')
  expect(words).toMatch(/The reference intermediary did not start: .* or its folder lies in an archive\./)
  expect(stdout.text).toContain('\ntarget the reference intermediary, seed 7\n')
})
