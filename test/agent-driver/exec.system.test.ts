/** Verbs that are commands. Every program here is this Node, so that nothing else has to be there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { processRuns } from '../../src/base/runtime/node.ts'
import { CHAT, context, drive, never, SIM, until } from './desk.ts'

const NODE = JSON.stringify(process.execPath)
const verbs = (timeout = '30s') => `
timeout: ${timeout}
accept: { exec: [${NODE}, agent.mjs, accept, $(chat.id)] }
says: { exec: [${NODE}, agent.mjs, says, $(text)] }
inbox: { exec: [${NODE}, agent.mjs, inbox] }
does: { transfer: { exec: [${NODE}, agent.mjs, $(team), "to $(items)", "$(env.WHO)"] } }`

const run = (program: string, timeout?: string) =>
  drive(verbs(timeout), { files: { 'agent.mjs': program }, env: { WHO: 'me' } })

const ECHO = `import { readFileSync, writeFileSync } from 'node:fs'
const received = { args: process.argv.slice(2), stdin: JSON.parse(readFileSync(0, 'utf8')), who: process.env.WHO }
writeFileSync('received.json', JSON.stringify(received))`

describe('a command', () => {
  it('receives its arguments and every field, in the folder of the driver', async () => {
    const { driver, folder } = await run(ECHO)
    const received = () => JSON.parse(readFileSync(join(folder, 'received.json'), 'utf8')) as unknown
    const done = await driver.call('accept', context(), never)
    expect(done).toMatchObject({ verb: 'accept', outcome: 'ok', chat_id: CHAT.id })
    expect(done.how).toMatch(/node agent\.mjs accept "c 1\/ä"$/)
    const sim = { url: SIM.url, api_key: SIM.apiKey, bot_id: SIM.botId }
    const stdin = { verb: 'accept', chat: CHAT, sim }
    expect(received()).toEqual({ args: ['accept', CHAT.id], stdin, who: 'me' })
    await driver.call('does.transfer', context({ with: { team: 5, items: ['a'] } }), never)
    expect(received()).toMatchObject({
      args: ['5', 'to ["a"]', 'me'],
      stdin: { verb: 'does.transfer', with: { team: 5, items: ['a'] } },
    })
  })

  it('does not pass through a shell', async () => {
    const { driver, folder } = await run(ECHO)
    const text = '$(touch x); `touch y` > z\n"\' *'
    await driver.call('says', context({ text }), never)
    expect(JSON.parse(readFileSync(join(folder, 'received.json'), 'utf8'))).toMatchObject({ args: ['says', text] })
    expect(existsSync(join(folder, 'x'))).toBe(false)
  })

  it('prints the inbox', async () => {
    const { driver } = await run('console.log(JSON.stringify([{ request: true }, { text: "Hei 😢" }]))')
    const { items } = await driver.call('inbox', context(), never)
    expect(items).toEqual([{ request: true }, { text: 'Hei 😢' }])
  })

  it('may ignore its stdin and print anything', async () => {
    const { driver } = await run('process.stdin.destroy(); console.log("done  it")')
    const text = 'x'.repeat(1_000_000)
    const done = await driver.call('accept', context({ with: { text } }), never)
    expect(done).toMatchObject({ outcome: 'ok', answer: 'done it' })
  })
})

describe('a command that fails', () => {
  it.each([
    ['process.exit(3)', 'it ended with exit code 3'],
    ['console.error("no such\\n chat"); process.exit(3)', 'it ended with exit code 3: no such chat'],
    ['console.log("on stdout"); process.exit(1)', 'it ended with exit code 1: on stdout'],
    ['function f() { throw new RangeError("no desk") }\nf()', /RangeError: no desk$/],
    // As Python prints it: the cause is the last line.
    [
      'console.error("Traceback (most recent call last):\\n  File \\"a.py\\"\\nURLError: no"); process.exit(1)',
      / URLError: no$/,
    ],
    ['console.error("line\\n".repeat(9999) + "the cause"); process.exit(1)', /1: …[line ]{280,300}the cause$/],
    ['process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)', 'it ended with SIGKILL'],
  ])('%s', async (program, error) => {
    const { driver } = await run(program)
    const done = await driver.call('accept', context(), never)
    expect([done.outcome, done.error]).toEqual(['failed', expect.stringMatching(error)])
  })

  it.each([
    ['console.log("garbage")', /^the inbox must be a list of .*, as JSON; received garbage$/],
    ['const more = () => process.stdout.write("x".repeat(65536), more); more()', /^printed more than 1 MiB$/],
  ])('prints no inbox: %s', async (program, error) => {
    const { driver } = await run(program)
    const read = await driver.call('inbox', context(), never)
    expect(read).toMatchObject({ outcome: 'failed', error: expect.stringMatching(error) })
  })

  it('cannot be started', async () => {
    const { driver } = await drive('accept: { exec: [./none.sh] }\nleave: { exec: [./driver.yaml] }')
    const { error } = await driver.call('accept', context(), never)
    expect(error).toBe('"./none.sh" cannot be started: there is no such program')
    const { outcome, ...done } = await driver.call('leave', context(), never)
    expect([outcome, done.error]).toEqual(['unreachable', expect.stringContaining('it may not be executed')])
    const nul = await (await run('')).driver.call('says', context({ text: 'a\0b' }), never)
    expect([nul.outcome, nul.error]).toEqual(['unreachable', expect.stringContaining('null bytes')])
  })
})

/** Starts a child process, writes both process ids, and continues; `after` replaces the continuation. */
const FAMILY = (after = 'setInterval(() => {}, 1000)') => `import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
process.on('SIGTERM', () => {})
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
child.unref()
writeFileSync('pids.tmp', JSON.stringify([process.pid, child.pid]))
renameSync('pids.tmp', 'pids')
${after}`

describe('no process remains', () => {
  const pidsIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'pids'), 'utf8')) as number[]
  const gone = (folder: string) => until(() => !pidsIn(folder).some(processRuns))

  it('after the timeout of a command', async () => {
    const { driver, folder } = await run(FAMILY(), '2s')
    const error = 'timeout: the command was not finished within 2s'
    expect(await driver.call('accept', context(), never)).toMatchObject({ outcome: 'failed', error })
    await gone(folder)
  })

  it.each(['the interruption of a command', 'closing the driver'])('after %s', async how => {
    const over = new AbortController()
    const { driver, folder } = await run(FAMILY())
    const done = driver.call('accept', context(), over.signal)
    await until(() => existsSync(join(folder, 'pids')))
    if (how === 'closing the driver') await driver.close()
    else over.abort()
    expect(await done).toMatchObject({ outcome: 'failed', error: 'interrupted, because the run is over' })
    await gone(folder)
  })

  it('of a command that ended while a child holds its streams', async () => {
    const { driver, folder } = await run(FAMILY('console.log("[]"); process.exit(0)'))
    expect(await driver.call('inbox', context(), never)).toMatchObject({ outcome: 'ok', items: [] })
    await gone(folder)
  })
})
