import { Command } from 'commander'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CliCommand } from '../../src/commands/command.ts'
import { addFlags } from '../../src/commands/commander.ts'
import { COMMANDS } from '../../src/commands/main.ts'
import { readFlags } from '../../src/commands/read-flags.ts'

const NAMES = Object.keys(COMMANDS)

/** What commander reads; null for a mistake. */
function readByCommander(definition: CliCommand, argv: readonly string[]): object | null {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  addFlags(command, definition)
  try {
    return command.parse([...argv], { from: 'user' }).opts()
  } catch {
    return null
  }
}

/** Flags of the command as users write them, with right and wrong values, among other words. */
function argumentsOf({ flags }: CliCommand): fc.Arbitrary<string[]> {
  const written = Object.keys(flags).map(flag => flag.split(' ')[0]!)
  const choices = Object.values(flags).flatMap(flag => (typeof flag === 'string' ? [] : (flag.choices ?? [])))
  const value = fc.constantFrom('0', '', 'a=b', '-1', '--port', ...choices)
  const flag = fc.constantFrom(...written)
  const word = fc.oneof(
    { arbitrary: fc.tuple(flag, value), weight: 4 },
    { arbitrary: fc.tuple(flag, value).map(([name, text]) => [`${name}=${text}`]), weight: 2 },
    { arbitrary: flag.map(name => [name]), weight: 2 },
    { arbitrary: fc.constantFrom('--', '-h', '--help', 'word', '--unknown').map(text => [text]), weight: 1 },
  )
  return fc.array(word, { maxLength: 4 }).map(words => words.flat())
}

it.each(NAMES)('reads the flags of %s as commander does, or leaves them to it', async name => {
  const command = await COMMANDS[name]!.load()
  fc.assert(
    fc.property(argumentsOf(command), argv => {
      const read = readFlags(command, argv)
      if (read !== null) expect(read).toEqual(readByCommander(command, argv))
    }),
    { numRuns: 300 },
  )
})

it('reads the usual flags of a start', async () => {
  const start = await COMMANDS.start!.load()
  const argv = ['--port', '0', '--output=quiet', '--set', 'a=1', '--set', 'b=2', '--no-inspector', '--json']
  expect(readFlags(start, argv)).toEqual({
    port: '0',
    output: 'quiet',
    set: ['a=1', 'b=2'],
    inspector: false,
    markers: true,
    json: true,
  })
  expect(readFlags(start, ['now'])).toBeNull()
})
