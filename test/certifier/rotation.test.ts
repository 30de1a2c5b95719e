/** Certifies with behaviours that the platform leaves open, which the seed varies. */
import { expect, it } from 'vitest'
import { certifyInProcess } from './in-process.ts'

const certifyOne = async (...[changes, options]: Parameters<typeof certifyInProcess>) =>
  (await certifyInProcess(changes, options)).checks[0]

it('varies them by the seed, in the same way for the same seed, and not at all when that is switched off', async () => {
  const rotated = async (seed: number, rotateUnspecified = true) =>
    (await certifyOne(null, { only: ['SIG-01'], seed, rotateUnspecified }))?.rotated
  const first = await rotated(1)
  expect(await rotated(1)).toEqual(first)
  expect(await rotated(2)).not.toEqual(first)
  expect(await rotated(1, false)).toEqual({})
})

it('names the one that decides that a check fails', async () => {
  // With this seed, SIG-01 has JSON that `JSON.stringify` does not write.
  const check = await certifyOne('restringifies', { only: ['SIG-01'], seed: 6 })
  expect(check).toMatchObject({ outcome: 'fail', decisive: [{ knob: 'webhook.json', initial: 'compact' }] })
  expect(check?.decisiveText).toMatch(/passes when .*webhook\.json=compact.* fails with webhook\.json=/)
})

it('blames none for a failure that the defaults show too', async () => {
  const check = await certifyOne('checks-no-signature', { only: ['SIG-03'] })
  expect(check).toMatchObject({ outcome: 'fail', decisive: [], decisiveText: null })
})
