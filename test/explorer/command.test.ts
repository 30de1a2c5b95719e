/** Refuses what `handover-sim explore` cannot do, before it starts anything. */
import { describe, expect, it } from 'vitest'
import { explore, newFolder } from './run-explore.ts'

describe('bad input', () => {
  it.each([
    [['--self-test', '--for', '5'], '--for must be a duration with a unit such as 5m, got "5".'],
    [['--self-test', '--conversations', 'many'], '--conversations must be a whole number from 1'],
    [['--self-test', '--jobs', '0'], '--jobs must be a whole number from 1 to 100000, got "0".'],
    [['--self-test', '--replay', 'nowhere.yaml'], '--replay must be the seed of a conversation'],
    [['--self-test', '--replay', '7', '--state', 's.json'], '--replay runs one conversation: leave out --state.'],
    [['--self-test', '--ui', '--report', 'json'], '--ui shows the failures in a page: leave out --report.'],
    [['--self-test', '--open'], '--open belongs to --ui: it opens the page in a browser.'],
    [['--self-test', '--replay', '4294967296'], '--replay must be a seed below 2147483648, got 4294967296.'],
    [['--target', 'http://127.0.0.1:1/'], 'explore plays an agent: pass --agent-driver FILE'],
  ] as const)('%j', async (flags, message) => {
    const { code, stderr } = await explore(newFolder(), ...flags)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  const accept = 'accept: { POST: /accept }\n'
  it.each([
    ['a state of another program', '{"version": 2}', '--self-test --state given', /given:1:\d+: version: must be 1/, 2],
    ['a driver without accept', '', '--agent-driver given.yaml', /accept and leave: .* has no accept/, 2],
    ['a target that does not answer', accept, '--agent-driver given.yaml', /the target http\S+ is not reachable/, 3],
  ] as const)('%s', async (_, text, flags, message, exitCode) => {
    const driver = `version: 1\nhttp: http://127.0.0.1:9\nleave: { POST: /leave }\n${text}`
    const cwd = newFolder({ given: text, 'given.yaml': driver })
    const target = flags.includes('--self-test') ? [] : ['--target', 'http://127.0.0.1:9/']
    const { code, stderr } = await explore(cwd, ...target, ...flags.split(' '))
    expect([code, stderr]).toEqual([exitCode, expect.stringMatching(message)])
  })
})
