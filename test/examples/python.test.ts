/** Tests the reference intermediary in Python. */
import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'
import { describeIntermediary } from './intermediary-suite.ts'
import { PYTHON } from './program.ts'

const found = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

describe(found ? 'with python3' : 'skipped: python3 3.9 or newer is not installed', () => {
  describeIntermediary(PYTHON, found)
})
