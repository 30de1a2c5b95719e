import { describe, expect, it } from 'vitest'
import { certifyExample } from './target.ts'

const SIG_01 = ['--only', 'SIG-01']

/** A seed whose variation of SIG-01 has JSON that `JSON.stringify` does not write. */
async function seedWithSpaces(): Promise<string> {
  for (let seed = 1; seed < 20; seed++) {
    const { checks } = await certifyExample(null, ...SIG_01, '--seed', String(seed))
    if (['spaced', 'pretty', 'newline'].includes(String(checks[0]?.rotated['webhook.json']))) return String(seed)
  }
  throw new Error('No seed below 20 has such JSON.')
}

describe('unspecified behaviour', () => {
  it('is varied by the seed, the same for the same seed', async () => {
    const rotations = []
    for (const seed of ['1', '1', '2']) {
      const { checks } = await certifyExample(null, ...SIG_01, '--seed', seed)
      rotations.push(checks[0]?.rotated)
    }
    expect(rotations[1]).toEqual(rotations[0])
    expect(rotations[2]).not.toEqual(rotations[0])
  })

  it('is not varied with --no-rotate-unspecified', async () => {
    const { checks } = await certifyExample(null, ...SIG_01, '--no-rotate-unspecified')
    expect(checks[0]?.rotated).toEqual({})
  })

  it('is named when it decides that a check fails', async () => {
    const seed = await seedWithSpaces()
    const { checks } = await certifyExample('restringifies', ...SIG_01, '--seed', seed)
    const [check] = checks
    expect(check).toMatchObject({ outcome: 'fail', decisive: [{ knob: 'webhook.json', initial: 'compact' }] })
    expect(check?.decisive_text).toMatch(/passes when .*webhook\.json=compact.* fails with webhook\.json=/)
  })

  it('is not blamed for a failure that the defaults show too', async () => {
    const { checks } = await certifyExample('checks-no-signature', '--only', 'SIG-03', '--seed', '1')
    expect(checks[0]).toMatchObject({ outcome: 'fail', decisive: [], decisive_text: null })
  })
})
