/** The reference intermediary in Python, as a process. */
import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'
import { describeIntermediary } from './intermediary-suite.ts'
import { PYTHON } from './program.ts'

const found = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

describe(found ? 'with python3' : 'skipped: there is no python3 of 3.9 or newer here', () => {
  describeIntermediary(PYTHON, found)
})
