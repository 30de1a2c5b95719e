/** The package in an archive, as with Plug'n'Play of yarn: Node reads its files, but no process starts in its folders. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'

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
  const child = spawn(
    process.execPath,
    ['--require', './hooks.cjs', join(ROOT, 'bin/handover-sim.js'), ...args.split(' ')],
    {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = Promise.all([once(child, 'exit'), text(child.stderr)]).then(([[code], stderr]) => ({ code, stderr }))
  return { child, ended }
}

it('runs shipped scenarios against the reference intermediary', async () => {
  const { child, ended } = start('run --builtin --only Happy --self-test')
  expect(await text(child.stdout)).toContain('exit 0')
  expect(await ended).toMatchObject({ code: 0 })
})

it('says what cannot be started, and names the target that has no URL yet', async () => {
  const { child, ended } = start('run --builtin --only Happy --self-test --seed 7', { NO_PROCESS: '1' })
  const stdout = await text(child.stdout)
  const words = stdout.replace(/\s+/g, ' ')
  expect(words).toMatch(/The reference intermediary did not start: .* or its folder lies in an archive\./)
  expect(stdout).toContain('\ntarget the reference intermediary, seed 7\n')
  expect(await ended).toMatchObject({ code: 3 })
})
