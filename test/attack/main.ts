/**
 * Runs `npm run attack -- [--minutes N] [--seed S] [--only PART,...]`: the tests of test/attack with more rounds, one part
 * after the other. The exit code is 1 when an attempt fails.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENDING = '.system.test.ts'
const PARTS = readdirSync(`${ROOT}test/attack`).flatMap(name => (name.endsWith(ENDING) ? name.replace(ENDING, '') : []))

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: PARTS.join(',') },
  },
})
const minutes = Number(values.minutes)
const parts = values.only.split(',')
const unknown = parts.filter(part => !PARTS.includes(part))
if (!(minutes > 0) || unknown.length > 0) {
  console.error(`Usage: --minutes N above 0, and --only some of ${PARTS.join(', ')}.`)
  process.exit(2)
}

const files = parts.map(part => `test/attack/${part}${ENDING}`)
/** Rounds are estimated, so a part may take longer than its share. */
const limitMs = Math.ceil(((minutes / parts.length) * 4 + 4) * 60_000)
const bounds = ['--maxWorkers=1', `--testTimeout=${limitMs}`, `--hookTimeout=${limitMs}`]
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'system', ...files, ...bounds],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ATTACK_MINUTES: String(minutes / parts.length), ATTACK_SEED: values.seed },
  },
)
process.exitCode = status ?? 1
