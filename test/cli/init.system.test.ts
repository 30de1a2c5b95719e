/** What `handover-sim init` writes passes: its scenarios, and its test with `node --test`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DESKS } from '../../src/commands/init-files.ts'
import { folderWith } from '../config/folder.ts'
import { runCommand } from './fake-io.ts'
import { BIN } from './program.ts'

it.each(Object.keys(DESKS))('the scenarios for a desk of kind %s', async desk => {
  const { cwd } = await runCommand(['init', '--yes', '--desk', desk])
  const { code, out, err } = await runCommand(['run', '--self-test'], { cwd })
  expect([code, out]).toEqual([0, expect.stringContaining('2 passed')])
  expect(err).toMatch(/This tested the built-in service, not yours\. To test yours, leave out --self-test\.\n$/)
})

it('the test of a project that uses node --test', async () => {
  const cwd = folderWith({ 'package.json': '{"scripts":{"test":"node --test"}}' })
  await runCommand(['init', '--yes'], { cwd })
  mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
  symlinkSync(BIN, join(cwd, 'node_modules/.bin/handover-sim'))
  const env = { PATH: process.env.PATH, npm_config_offline: 'true' }
  expect(execFileSync(process.execPath, ['--test'], { cwd, env, encoding: 'utf8' })).toContain('pass 1')
})
