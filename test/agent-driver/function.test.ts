/** Verbs that are functions of a module. */
import { describe, expect, it } from 'vitest'
import { CHAT, context, drive, never } from './desk.ts'

const module = (text: string) => drive(text, { name: 'driver.mjs' })

describe('a function', () => {
  it('receives the context and a signal', async () => {
    const { driver } =
      await module(`export const says = async ({ signal, ...received }) => ({ received, signal: signal.aborted })
export const does = { transfer: ctx => ctx.with.team }`)
    const done = await driver.call('says', context({ text: 'Hei' }), never)
    expect(done).toMatchObject({ verb: 'says', outcome: 'ok', how: 'function says', chat_id: CHAT.id })
    expect(JSON.parse(done.answer!)).toEqual({ received: { ...context(), text: 'Hei' }, signal: false })
    const own = await driver.call('does.transfer', context({ with: { team: 'billing' } }), never)
    expect(own).toMatchObject({ outcome: 'ok', how: 'function does.transfer', answer: '"billing"' })
  })

  it('returns the inbox; the result of other verbs is ignored', async () => {
    const { driver } = await module(
      'export const inbox = () => [{ text: "a", more: 1 }]\nexport const accept = () => {}',
    )
    expect((await driver.call('inbox', context(), never)).items).toEqual([{ text: 'a', more: 1 }])
    expect(await driver.call('accept', context(), never)).not.toHaveProperty('answer')
  })

  it.each([
    ['() => { throw new Error("no such chat") }', 'threw "no such chat"'],
    ['async () => { throw "a text" }', 'threw "a text"'],
    ['() => Promise.reject()', 'threw "undefined"'],
    ['() => { throw new Error("fetch failed", { cause: new Error("reset") }) }', 'threw "fetch failed: reset"'],
    ['() => {\n  null.x\n}', /^threw "Cannot read .*" \(driver\.mjs:2:\d+\)$/],
  ])('%s', async (text, error) => {
    const { driver } = await module(`export const accept = ${text}`)
    const done = await driver.call('accept', context(), never)
    expect([done.outcome, done.error]).toEqual(['failed', expect.stringMatching(error)])
  })

  it('receives an aborted signal after its timeout, and at the end of the run', async () => {
    const { driver } = await module(`export const timeout = '30ms'
let last = 'nothing'
export const accept = ({ signal }) => new Promise(() => signal.addEventListener('abort', () => { last = 'aborted' }))
export const says = () => last`)
    expect((await driver.call('accept', context(), never)).error).toBe('timeout: not finished within 30ms')
    expect((await driver.call('says', context(), never)).answer).toBe('"aborted"')
    const over = AbortSignal.abort()
    expect((await driver.call('accept', context(), over)).error).toBe('interrupted, because the run is over')
  })
})
