/** A person at the terminal: what is asked, what the answers mean, one question at a time. */
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Prompt } from '../../src/running/agent-driver/driver.ts'
import { formatQuestion, terminalPrompt } from '../../src/running/agent-driver/manual-call.ts'
import { CHAT, context, drive, never, until } from './desk.ts'

const ALL = 'accept: manual\nsays: manual\naway: manual\ndoes: { transfer: manual }'
const at = (prompt: Prompt, isTTY = true) => drive(ALL, { prompt, isTTY })

describe('manual verbs', () => {
  it.each([
    ['accept', { chat: { ...CHAT, name: '' } }, 'accept chat c 1/ä of user u1'],
    ['says', { text: 'Hei "du"' }, 'write "Hei \\"du\\"" in chat c 1/ä of user Ada'],
    ['away', { chat: null }, 'set every agent away'],
    ['does.transfer', { with: { team: 'b' } }, 'do transfer {"team":"b"} in chat c 1/ä of user Ada'],
  ])('%s asks the person', (verb, more, task) => {
    expect(formatQuestion(verb, context(more))).toBe(
      `In the help desk: ${task}, then press Enter; s to report a failure: `,
    )
  })

  it('have the outcome that the person reports', async () => {
    for (const [answer, outcome] of Object.entries({ '': 'ok', yes: 'ok', s: 'failed', ' Skip': 'failed' })) {
      const { driver } = await at(async () => answer)
      const done = await driver.call('accept', context(), never)
      expect([answer, done]).toMatchObject([answer, { outcome, how: 'manual', chat_id: CHAT.id }])
    }
  })

  it('ask one question at a time, in order', async () => {
    const open: { question: string; answer(line: string): void }[] = []
    const { driver } = await at(question => new Promise(answer => void open.push({ question, answer })))
    const done = ['a', 'b', 'c'].map(text => driver.call('says', context({ text }), never))
    for (const [index, text] of ['a', 'b', 'c'].entries()) {
      await until(() => open.length > index)
      expect(open).toHaveLength(index + 1)
      expect(open[index]!.question).toContain(`write "${text}"`)
      open[index]!.answer(text === 'b' ? 's' : '')
    }
    expect((await Promise.all(done)).map(({ outcome }) => outcome)).toEqual(['ok', 'failed', 'ok'])
  })

  it('are missing without a terminal', async () => {
    const { driver } = await at(async () => '', false)
    expect(driver.verbs).toEqual([])
    const error = 'manual needs a terminal'
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'failed', error })
  })

  it('are cancelled when the run ends, also those in the queue', async () => {
    const asked: string[] = []
    const over = new AbortController()
    const { driver } = await at((question, signal) => {
      asked.push(question)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    const done = [1, 2].map(() => driver.call('accept', context(), over.signal))
    await until(() => asked.length === 1)
    over.abort()
    for (const one of await Promise.all(done)) expect(one.error).toBe('interrupted, because the run is over')
    expect(asked).toHaveLength(1)
  })

  it('fail when the terminal closes', async () => {
    const { driver } = await at(() => Promise.reject(new Error('the terminal was closed')))
    const error = 'the terminal cannot be asked: the terminal was closed'
    expect((await driver.call('accept', context(), never)).error).toBe(error)
  })
})

describe('the terminal', () => {
  const open = () => {
    const [input, output] = [new PassThrough(), new PassThrough().setEncoding('utf8')]
    return { input, output, ask: terminalPrompt(input, output) }
  }

  it('shows the question and reads a line', async () => {
    const { input, output, ask } = open()
    const answer = ask('Well? ', never)
    expect(output.read()).toBe('Well? ')
    input.write('s\nmore')
    expect(await answer).toBe('s')
  })

  it('closes with its input and with the run', async () => {
    const { input, ask } = open()
    const unanswered = ask('Well? ', never)
    input.end()
    await expect(unanswered).rejects.toThrow('the terminal was closed')
    const over = new AbortController()
    const broken = open().ask('Well? ', over.signal)
    over.abort()
    await expect(broken).rejects.toThrow()
    await expect(open().ask('Well? ', over.signal)).rejects.toThrow('aborted')
  })
})
