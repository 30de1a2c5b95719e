/** `handover-sim init`: what it writes is valid, fits the project, and replaces nothing. */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DESKS } from '../../src/commands/init-files.ts'
import { folderWith } from '../config/folder.ts'
import { runCommand } from './fake-io.ts'

const manifest = (fields: object) => ({ 'package.json': JSON.stringify(fields) })

const command = (cwd: string, ...argv: string[]) => runCommand(argv, { cwd })

describe('init', () => {
  it.each(Object.keys(DESKS))('writes files for a desk of kind %s that are valid', async desk => {
    const folder = folderWith()
    const { code, out } = await command(folder, 'init', '--yes', '--desk', desk)
    expect(code).toBe(0)
    const scenarios = ['scenarios/takeover.yaml', 'scenarios/second-text.yaml']
    const files = ['handover-sim.config.yaml', 'agent-driver.yaml', ...scenarios]
    for (const file of files) expect(out).toContain(`written  ${file}\n`)
    expect((await command(folder, 'validate', ...files)).code).toBe(0)
    const hints = [...out.matchAll(/^ {2}.*npx handover-sim \w.* {4}(?=\S)/gm)].map(([hint]) => hint.length)
    expect([hints.length, new Set(hints).size]).toEqual([3, 1])
  })

  it.each([
    [manifest({ devDependencies: { vitest: '5' } }), 'test/handover.test.js', /from 'vitest'/],
    [manifest({ devDependencies: { jest: '30' } }), 'test/handover.test.js', /require\('node:child_process'\)/],
    [manifest({ type: 'module', scripts: { test: 'node --test' } }), 'test/handover.test.js', /from 'node:test'/],
    [{ 'pyproject.toml': '' }, 'tests/test_handover.py', /^def test_/m],
  ])('finds the runner of %j', async (files, path, pattern) => {
    const folder = folderWith(files)
    expect((await command(folder, 'init', '--yes')).code).toBe(0)
    expect(readFileSync(join(folder, path), 'utf8')).toMatch(pattern)
  })

  it('writes the workflow of the place where the project lives', async () => {
    const github = folderWith()
    await command(github, 'init', '--yes')
    const workflow = parse(readFileSync(join(github, '.github/workflows/handover.yaml'), 'utf8'))
    expect(workflow.jobs.handover.steps[3].run).toContain('npx handover-sim run --self-test')
    const gitlab = folderWith()
    await command(gitlab, 'init', '--yes', '--ci', 'gitlab', '--runner', 'none')
    expect(parse(readFileSync(join(gitlab, '.gitlab-ci.yml'), 'utf8'))['handover-self-test'].script).toHaveLength(2)
    expect(existsSync(join(gitlab, 'test'))).toBe(false)
  })

  it('writes nothing through a linked folder', async () => {
    const folder = folderWith({ elsewhere: null })
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'scenarios'))
    const { code, err } = await command(folder, 'init', '--yes')
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('scenarios is a link') })
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
  })

  it('replaces nothing', async () => {
    const folder = folderWith({ 'agent-driver.yaml': 'mine\n', '.gitlab-ci.yml': 'mine\n' })
    const { code, out } = await command(folder, 'init', '--yes', '--webhook-url', 'http://127.0.0.1:8080/hook')
    expect(code).toBe(0)
    for (const file of ['agent-driver.yaml', '.gitlab-ci.yml']) {
      expect(readFileSync(join(folder, file), 'utf8')).toBe('mine\n')
      expect(out).toContain(`exists   ${file}: left as it is\n`)
    }
    expect(readFileSync(join(folder, 'handover-sim.config.yaml'), 'utf8')).toContain('http://127.0.0.1:8080/hook')
    const again = await command(folder, 'init', '--yes')
    expect(again.out).not.toContain('written')
  })

  it('writes into another folder, and says what is wrong', async () => {
    const folder = folderWith({ 'package.json': '{ broken', scenarios: 'a file' })
    const { code, out } = await command(folder, 'init', '--yes', 'new/service')
    expect([code, existsSync(join(folder, 'new/service/agent-driver.yaml'))]).toEqual([0, true])
    expect(out).toContain('cd new/service && ')
    const rows: [string[], number, string][] = [
      [['package.json'], 2, 'package.json must be a folder, and is a file.\n'],
      [['--webhook-url', '3000'], 2, '--webhook-url must be an http or https URL'],
      [[], 3, 'scenarios/takeover.yaml cannot be written'],
    ]
    for (const [flags, expected, message] of rows) {
      const refused = await command(folder, 'init', '--yes', ...flags)
      expect([refused.code, refused.err]).toEqual([expected, expect.stringContaining(message)])
    }
  })
})
