/** Tests the reference intermediary in Ruby. */
import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'
import { describeIntermediary } from './intermediary-suite.ts'
import { RUBY } from './program.ts'

const found = spawnSync('ruby', ['-e', 'exit RUBY_VERSION >= "3.0"']).status === 0

describe(found ? 'with ruby' : 'skipped: ruby 3.0 or newer is not installed', () => {
  describeIntermediary(RUBY, found)
})
