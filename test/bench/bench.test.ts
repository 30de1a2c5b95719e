/** Runs `npm run bench` for a short look, so that it keeps working. What it measures is not checked. */
import { spawnSync } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Row } from '../../bench/rows.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const hasWrk = spawnSync('wrk', ['--version']).error === undefined

function runBench(...args: string[]) {
  return spawnSync(process.execPath, ['bench/main.ts', ...args], { cwd: ROOT, encoding: 'utf8', timeout: 120_000 })
}

describe('npm run bench', () => {
  it.skipIf(!hasWrk)('measures a figure with a yardstick, and saves its rows (needs wrk)', { timeout: 120_000 }, () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-'))
    const file = join(folder.path, 'rows.json')
    const { status, stdout, stderr } = runBench('--quick', '--json', file, 'message')
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('not a figure') })
    const rows = JSON.parse(readFileSync(file, 'utf8')) as Row[]
    expect(rows.map(({ name }) => name)).toContain('POST message, p99')
    for (const { name, value, ratio } of rows) {
      expect(value.median).toBeGreaterThan(0)
      expect(ratio?.median).toBeGreaterThan(0)
      expect(stdout).toContain(`| ${name} | `)
    }
  })

  it('lists its figures when it does not know a name', () => {
    const { status, stderr } = runBench('speed')
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('deliveries') })
  })
})
