/** Expectations after a restore: of the chats the snapshot brought, and of nothing from before it. */
import { describe, expect, it } from 'vitest'
import { ExpectationError } from '../../src/testing/expectation-error.ts'
import { shouting, simulatorWith } from './desk.ts'

describe('after a restore', () => {
  it('expects calls of restored chats, repeatedly', async () => {
    const { sim } = simulatorWith(shouting)
    const ada = await sim.chat({ user: { firstName: 'Ada' } })
    const before = sim.snapshot()
    for (let round = 0; round < 3; round++) {
      await ada.press('handover')
      expect((await ada.expectCall('start')).chatId).toBe(ada.id)
      await sim.assertClean()
      await sim.restore(before)
    }
  })

  it('ignores entries that precede the restore, and reports later calls', async () => {
    const { sim, call } = simulatorWith(shouting)
    const ada = await sim.chat({ user: { firstName: 'Ada' } })
    const before = sim.snapshot()
    const pressed = await ada.press('handover')
    await sim.restore(before)
    await ada.expectNone('start', { for: '0s' })
    await sim.assertClean()
    await call('end', { chat_id: ada.id })
    await expect(sim.assertClean()).rejects.toThrow(ExpectationError)
    await expect(ada.expectCall('start', {}, { since: pressed })).rejects.toThrow(/^since must be what an action/)
    const failed = ada.expectCall('start', {}, { since: 'beginning', within: '10ms' })
    await expect(failed).rejects.toThrow(/chat Ada.*older entr.*before a restore/s)
  })

  it('ignores the journal of the snapshot', async () => {
    const { sim, call } = simulatorWith(shouting)
    const ada = await sim.chat({ user: { firstName: 'Ada' } })
    await ada.press('handover')
    await call('end', { chat_id: 'unknown' })
    const after = sim.snapshot({ journal: true })
    sim.reset()
    await sim.restore(after)
    await sim.assertClean()
    await ada.expectNone('start', { for: '0s' })

    await ada.says('Hello')
    const failed = ada.expectCall('start', {}, { since: 'beginning', within: '10ms' })
    await expect(failed).rejects.toThrow(/start was not called.*chat Ada.*\d+ older entries.*before a restore/s)
    await ada.expectCall('message', { message: 'HELLO' })
    await sim.assertClean()
    expect(sim.journal.query({ kind: 'api' }).length).toBe(3)
  })

  it('expects calls of chats whose first entries were evicted', async () => {
    const { sim } = simulatorWith(shouting, { journalLimit: 8 })
    const ada = await sim.chat()
    for (let count = 0; count < 10; count++) await ada.says(`${count}`)
    await ada.press('handover')
    expect((await ada.expectCall('start')).chatId).toBe(ada.id)
  })
})
