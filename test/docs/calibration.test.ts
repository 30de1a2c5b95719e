/** Runs the commands of docs/how-to/calibration.md as a user types them, and compares what the page shows. */
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, pathOf, read } from './pages.ts'

const PAGE = read('docs/how-to/calibration.md')
const [start = '', play = '', compare = '', write = '', replay = '', plan = '', ...others] = blocks(PAGE, 'sh')
const [contradicted = '', step = ''] = blocks(PAGE, '')

describe.skipIf(!hasShell)('the walk (needs bash and curl)', () => {
  it('finds the knobs of a simulator that plays the platform', async () => {
    expect(others).toEqual([])
    const folder = folderWith({})
    const quick = folderWith({
      npx: `#!/bin/sh\nshift\nexec '${process.execPath}' '${pathOf('bin/handover-sim.js')}' "$@"\n`,
    })
    chmodSync(join(quick, 'npx'), 0o755)
    const port = String(await freePort())
    const type = (typed: string) =>
      new Promise<{ code: unknown; stdout: string; stderr: string }>(resolve =>
        execFile(
          'bash',
          ['--norc', '-uc', typed.replaceAll('4848', port)],
          { cwd: folder, env: { ...process.env, PATH: `${quick}:${process.env.PATH}` }, timeout: 60_000 },
          (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
        ),
      )
    onTestFinished(async () => void (await type('npx handover-sim stop --port 4848')))

    const played = await type(`${start}${play}`)
    expect(played.code, played.stderr).toBe(0)
    const compared = await type(compare)
    expect(compared.code, compared.stderr).toBe(1)
    // The number of an entry depends on when the simulator was ready.
    const withoutNumbers = (text: string) => text.replace(/#\d+/g, '#')
    expect(withoutNumbers(compared.stdout)).toContain(withoutNumbers(contradicted))

    const written = await type(write)
    expect(written.stderr).toBe('wrote handover-sim.config.yaml\n')
    const config = readFileSync(join(folder, 'handover-sim.config.yaml'), 'utf8')
    expect(config).toMatch(/# once: traffic\.jsonl #\d+\n {2}start\.again: "409"\n/)
    const replayed = await type(replay)
    expect(replayed.code, replayed.stdout).toBe(0)
    expect(replayed.stdout).toMatch(/Replayed 5 answers and events without a difference\./)

    await type(plan)
    expect(readFileSync(join(folder, 'todo.md'), 'utf8')).toContain(step)
  })
})
