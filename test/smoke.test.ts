/** Runs the whole product once, as users do: processes, a browser, the packed package. The rest of such tests is in `*.system.test.ts`. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it as test } from 'vitest'
import { findChromium, launch } from './browser/chromium.ts'
import { BIN, type Program, startProgram } from './cli/program.ts'
import { pathOf } from './docs/pages.ts'
import type { BugName } from './mutants/patches.ts'
import { writeDriver } from './shipped/target.ts'
import { freePort } from './support/port.ts'
import { findRuntime } from './support/runtimes.ts'

interface Smoke {
  /** A temporary folder of the test. */
  readonly folder: string
  start(program: string, ...args: readonly string[]): Program
  /** Runs a program to its end. */
  run(program: string, ...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>
  /** Runs `handover-sim`. */
  command(...args: readonly string[]): ReturnType<Smoke['run']>
  /** The flags for the example with a planted bug, which the command starts; null for no bug. */
  target(bug: BugName | null): Promise<readonly string[]>
}

const it = test.extend<{ smoke: Smoke }>({
  smoke: async ({ onTestFinished }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'handover-smoke-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const start: Smoke['start'] = (...command) => startProgram(command, { cwd: folder, onEnd: onTestFinished })
    const run: Smoke['run'] = async (...command) => {
      const { code, stdout, stderr } = start(...command)
      return { code: await code, stdout: stdout.text, stderr: stderr.text }
    }
    await use({
      folder,
      start,
      run,
      command: (...args) => run(process.execPath, BIN, ...args),
      async target(bug) {
        const port = await freePort()
        const driver = writeDriver(folder, port, bug)
        return ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', driver, '--port', '0']
      },
    })
  },
})

const chromium = findChromium()
const python = findRuntime('python3')

describe.concurrent('smoke', () => {
  it('the demo plays a whole handover', async ({ smoke, expect }) => {
    const { code, stdout, stderr } = await smoke.run(process.execPath, pathOf('examples/demo/demo.js'))
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('Anna har blitt med i chatten.')
    expect(stdout).toContain('Where to go next:')
  })

  it('a shipped scenario passes over HTTP', async ({ smoke, expect }) => {
    const { code, stdout, stderr } = await smoke.command(
      'run',
      'builtin:happy-path.yaml',
      ...(await smoke.target(null)),
    )
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/1 passed/)
  })

  it('run finds a planted bug', async ({ smoke, expect }) => {
    const target = await smoke.target('escapes-html')
    const { code, stdout } = await smoke.command('run', 'builtin:happy-path.yaml', ...target)
    expect(code).toBe(1)
    expect(stdout).toMatch(/message.*(escap|differ)/i)
  })

  it('certify certifies the reference intermediary', async ({ smoke, expect }) => {
    const { code, stdout, stderr } = await smoke.command('certify', '--only', 'SIG', ...(await smoke.target(null)))
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/PASS\s+SIG-01/)
  })

  it('certify finds a planted bug', async ({ smoke, expect }) => {
    const target = await smoke.target('checks-no-signature')
    const { code, stdout } = await smoke.command('certify', '--only', 'SIG-03', '--observe', '400ms', ...target)
    expect(code).toBe(1)
    expect(stdout).toMatch(/made\s+with\s+another\s+key\s+had\s+an\s+effect/)
  })

  it('explore finds a planted bug', async ({ smoke, expect }) => {
    const target = await smoke.target('shows-no-messages')
    const { code, stdout, stderr } = await smoke.command('explore', '--within', '2s', ...target)
    expect(code).toBe(1)
    expect(stdout).toMatch(/FAIL explore > A plain conversation/)
    expect(stdout).toMatch(/rerun: +npx handover-sim explore --seed \d+ --target http\S+ --agent-driver \S+/)
    expect(stderr).toMatch(/^0 conversations, [\s\S]*Stopped: a plain conversation fails\./m)
  })

  it.skipIf(chromium === null)('the page shows a chat in Chromium', async ({ smoke, expect, onTestFinished }) => {
    const { stdout } = smoke.start(process.execPath, BIN, 'start', '--demo', '--port', '0')
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(await stdout.until(/Ready/))!
    const browser = await launch(chromium!)
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', error => errors.push(String(error)))
    await page.goto(url)
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.getByRole('textbox').first().waitFor()
    expect(errors).toEqual([])
  })

  it('the packed package can be required and imported', async ({ smoke, expect }) => {
    const { folder, run } = smoke
    const packed = await run('npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder, pathOf('.'))
    expect(packed.code, packed.stderr).toBe(0)
    const installed = join(folder, 'node_modules/handover-sim')
    mkdirSync(installed, { recursive: true })
    symlinkSync(pathOf('node_modules/zod'), join(folder, 'node_modules/zod'))
    const [tarball = ''] = packed.stdout.trim().split('\n').slice(-1)
    expect(await run('tar', '-xzf', join(folder, tarball), '-C', installed, '--strip-components=1')).toMatchObject({
      code: 0,
    })
    const use = 'const sim = createSimulator({ seed: 1 }); console.log(typeof sim.fetch)'
    for (const args of [
      ['-e', `const { createSimulator } = require('handover-sim'); ${use}`],
      ['--input-type=module', '-e', `import { createSimulator } from 'handover-sim'; ${use}`],
    ])
      expect(await run(process.execPath, ...args)).toEqual({ code: 0, stdout: 'function\n', stderr: '' })
  })

  it.skipIf(python === null)('Python makes the same signature', async ({ smoke, expect }) => {
    const script = [
      'import base64, hashlib, hmac, sys',
      `sys.stdout.write(base64.b64encode(hmac.new(b'examplekey', open('body.json', 'rb').read(), hashlib.sha256).digest()).decode())`,
    ]
    writeFileSync(join(smoke.folder, 'body.json'), '{"foo":1,"bar":2}')
    const { stdout: signature } = await smoke.run(python!, '-c', script.join('; '))
    expect(signature).toBe('uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q=')
    const keys = ['--key', 'examplekey', '--signature', signature]
    expect(await smoke.command('verify', '--body', 'body.json', ...keys)).toMatchObject({ code: 0 })
  })
})
