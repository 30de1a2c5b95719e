/** Builds the single executable, and measures its size and its start beside that of the package. */
import { execFileSync } from 'node:child_process'
import { mkdtempDisposableSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../processes.ts'
import { atMost, createRow, type Row, valueAtMost } from '../rows.ts'
import { fewer, type Settings } from '../settings.ts'

export async function executable(settings: Settings): Promise<Row[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'handover-sim-bench-'))
  const file = join(folder.path, 'handover-sim')
  execFileSync(process.execPath, [join(ROOT, 'scripts/executable.ts'), file], { cwd: ROOT, stdio: 'ignore' })
  const env = { PATH: '/usr/bin:/bin', HOME: folder.path }
  const milliseconds = (program: string, ...args: string[]): number => {
    const from = performance.now()
    execFileSync(program, args, { env, stdio: 'ignore' })
    return performance.now() - from
  }
  const first = milliseconds(file, '--version')
  const [values, yardstick]: [number[], number[]] = [[], []]
  for (let round = 0; round < fewer(settings, 11, 2); round++) {
    yardstick.push(milliseconds(process.execPath, join(ROOT, 'bin/handover-sim.js'), '--version'))
    values.push(milliseconds(file, '--version'))
  }
  const figure = 'executable'
  return [
    createRow({
      figure,
      name: 'single executable',
      unit: 'MiB',
      values: [statSync(file).size / 2 ** 20],
      goal: valueAtMost(160),
    }),
    createRow({
      figure,
      name: 'its start (--version), beside the package',
      unit: 'ms',
      values,
      yardstick,
      goal: atMost(1.5),
    }),
    createRow({
      figure,
      name: 'its first start, which writes the files',
      unit: 'ms',
      values: [first],
      goal: valueAtMost(1000),
    }),
  ]
}
