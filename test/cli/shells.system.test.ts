/** What shells read: words of commands to run again, and the script of completion. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteForShell } from '../../src/commands/run-target.ts'
import { runCommand } from './fake-io.ts'
import { BIN } from './program.ts'

const NAMES = [
  ...['Happy path', "It's late", 'say "hi"', '$HOME `id` $(id)', 'a\\b', '100 %', 'wow!', 'a\nb', 'tab\there'],
  ...['a,b', '~', '-x', '', '*', 'æøå', '👩‍👩‍👧', 'a\u202eb', 'z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍', "'\n'", "\u200b'$\\"],
]

/** The words as bash passes them to a program. */
function throughBash(texts: readonly string[]): string[] {
  const command = `printf '%s\\0' ${texts.map(text => quoteForShell(text, 'posix')).join(' ')}`
  const { stdout, status } = spawnSync('bash', ['-c', command], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  })
  expect(status).toBe(0)
  return stdout.split('\0').slice(0, -1)
}

const hasBash = spawnSync('bash', ['-c', ':']).status === 0

describe.runIf(hasBash)('a word for bash', () => {
  it('is what was quoted', () => {
    expect(throughBash(NAMES)).toEqual(NAMES)
  })

  it('is what was quoted, for any text', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 30 })
      .filter(value => !value.includes('\0') && value.isWellFormed())
    fc.assert(
      fc.property(fc.array(text, { minLength: 50, maxLength: 50 }), texts => {
        expect(throughBash(texts)).toEqual(texts)
      }),
      { numRuns: 3 },
    )
  })
})

it.each([
  ['Happy path', '"Happy path"'],
  ["It's late", '"It\'s late"'],
  ['$HOME', "'$HOME'"],
  ["it's $HOME", "'it''s $HOME'"],
  ['a\nb', '"a`u{a}b"'],
  ['webhook.retry=1s,5s', '"webhook.retry=1s,5s"'],
  ['scenarios/happy-path.yaml', 'scenarios/happy-path.yaml'],
  ['C:\\tests\\a.yaml', "'C:\\tests\\a.yaml'"],
])('for PowerShell, %j is %s', (text, word) => {
  expect(quoteForShell(text, 'powershell')).toBe(word)
})

it.runIf(hasBash)('the script of bash completes values with a colon, an equals sign and spaces', async () => {
  const { out } = await runCommand(['complete', 'bash'])
  const command = `handover-sim() { "${process.execPath}" "${BIN}" "$@"; }`
  const typed = ['run builtin : happy', 'run --report = pr', 'trigger MESS'].map(line => [
    'handover-sim',
    ...line.split(' '),
  ])
  const asks = typed.map(
    words => `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _handover_sim; echo "\${COMPREPLY[@]}"`,
  )
  const { stdout } = spawnSync('bash', ['--norc', '-c', [command, out, ...asks].join('\n')], { encoding: 'utf8' })
  expect(stdout).toBe('happy-path.yaml\npretty\nMESSAGE\\ FROM\\ USER\n')
})

it.each(['fish', 'powershell'])('complete prints the script of %s', shell => {
  const { stdout } = spawnSync(process.execPath, [BIN, 'complete', shell], { encoding: 'utf8' })
  expect(stdout).toMatch(/handover-sim complete '?--/)
})
