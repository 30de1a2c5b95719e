/** `handover-sim init`: what it writes is valid and passes, fits the project, and replaces nothing. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DESKS } from '../../src/commands/init-files.ts'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { fakeIo } from './fake-io.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const manifest = (fields: object) => ({ 'package.json': JSON.stringify(fields) })

async function command(folder: string, ...argv: string[]) {
  const io = fakeIo(folder)
  const code = await main(argv, {}, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

describe('init', () => {
  it.each(Object.keys(DESKS))('writes files for a desk of kind %s that are valid and pass', async desk => {
    const folder = folderWith()
    const { code, out } = await command(folder, 'init', '--yes', '--desk', desk)
    expect(code).toBe(0)
    const files = [
      'handover-sim.config.yaml',
      'agent-driver.yaml',
      'scenarios/takeover.yaml',
      'scenarios/second-text.yaml',
    ]
    for (const file of files) expect(out).toContain(`written  ${file}\n`)
    expect((await command(folder, 'validate', ...files)).code).toBe(0)
    const run = await command(folder, 'run', '--self-test')
    expect([run.code, run.out]).toEqual([0, expect.stringContaining('2 passed')])
    expect(out.match(/^ {2}.*npx handover-sim \w+/gm)).toHaveLength(3)
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

  it('writes a test that passes with node --test', { timeout: 120_000 }, async () => {
    const folder = folderWith(manifest({ scripts: { test: 'node --test' } }))
    await command(folder, 'init', '--yes')
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
    symlinkSync(join(ROOT, 'bin/handover-sim.js'), join(folder, 'node_modules/.bin/handover-sim'))
    const env = { PATH: process.env.PATH, npm_config_offline: 'true' }
    const out = execFileSync(process.execPath, ['--test'], { cwd: folder, env, encoding: 'utf8' })
    expect(out).toContain('pass 1')
  })

  it('writes the workflow of the place where the project lives', async () => {
    const github = folderWith()
    await command(github, 'init', '--yes')
    const workflow = parse(readFileSync(join(github, '.github/workflows/handover.yaml'), 'utf8'))
    expect(workflow.jobs.handover.steps[3].run).toContain('npx handover-sim run --self-test')
    const gitlab = folderWith()
    await command(gitlab, 'init', '--yes', '--ci', 'gitlab', '--runner', 'none')
    expect(parse(readFileSync(join(gitlab, '.gitlab-ci.yml'), 'utf8')).handover.script).toHaveLength(2)
    expect(existsSync(join(gitlab, 'test'))).toBe(false)
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
    const folder = folderWith({ 'package.json': '{ broken' })
    mkdirSync(join(folder, 'service'))
    const { code, out } = await command(folder, 'init', '--yes', 'service')
    expect([code, existsSync(join(folder, 'service/agent-driver.yaml'))]).toEqual([0, true])
    expect(out).toContain('cd service && ')
    const fresh = await command(folder, 'init', '--yes', 'new/service')
    expect([fresh.code, existsSync(join(folder, 'new/service/agent-driver.yaml'))]).toEqual([0, true])
    const file = await command(folder, 'init', '--yes', 'package.json')
    expect([file.code, file.err]).toEqual([2, 'package.json must be a folder, and is a file.\n'])
    const url = await command(folder, 'init', '--yes', '--webhook-url', '3000')
    expect([url.code, url.err]).toEqual([2, expect.stringMatching(/^--webhook-url must be an http or https URL/)])
    writeFileSync(join(folder, 'scenarios'), 'a file')
    const blocked = await command(folder, 'init', '--yes')
    expect([blocked.code, blocked.err]).toEqual([
      3,
      expect.stringMatching(/^scenarios\/takeover\.yaml cannot be written/),
    ])
  })
})
