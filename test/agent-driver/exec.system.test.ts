/** Verbs that are commands. Every program here is this Node, so that nothing else has to be there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHAT, context, drive, isThere, never, SIM, until } from './desk.ts'

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
    expect(await driver.call('inbox', context(), never)).toMatchObject({
      outcome: 'ok',
      items: [{ request: true }, { text: 'Hei 😢' }],
    })
  })

  it('may ignore its stdin and print anything', async () => {
    const { driver } = await run('process.stdin.destroy(); console.log("done  it")')
    const text = 'x'.repeat(1_000_000)
    const done = await driver.call('accept', context({ with: { text } }), never)
    expect(done).toMatchObject({ outcome: 'ok', answer: 'done it' })
  })
})

/** As Python prints it: the cause is the last line, after more than fits. */
const TRACEBACK = `Traceback (most recent call last):
  File "/usr/lib/python3.11/urllib/request.py", line 1348, in do_open
    h.request(req.get_method(), req.selector, req.data, headers,
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ConnectionRefusedError: [Errno 111] Connection refused

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "agent.py", line 5, in <module>
    print(urllib.request.urlopen(address).read())
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
urllib.error.URLError: <urlopen error>
`

describe('a command that fails', () => {
  it.each([
    ['process.exit(3)', 'it ended with exit code 3'],
    ['console.error("no such\\n chat"); process.exit(3)', 'it ended with exit code 3: no such chat'],
    ['console.log("on stdout"); process.exit(1)', 'it ended with exit code 1: on stdout'],
    ['function f() { throw new RangeError("no desk") }\nf()', /RangeError: no desk$/],
    [
      `console.error(${JSON.stringify(TRACEBACK)}); process.exit(1)`,
      'it ended with exit code 1: ConnectionRefusedError: [Errno 111] Connection refused ' +
        'During handling of the above exception, another exception occurred: urllib.error.URLError: <urlopen error>',
    ],
    [
      'console.error("line\\n".repeat(9999) + "the cause"); process.exit(1)',
      /^it ended with exit code 1: …[line ]{280,300}the cause$/,
    ],
    ['process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)', 'it ended with SIGKILL'],
  ])('%s', async (program, error) => {
    const { driver } = await run(program)
    expect(await driver.call('accept', context(), never)).toMatchObject({
      outcome: 'failed',
      error: error instanceof RegExp ? expect.stringMatching(error) : error,
    })
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
    expect(await driver.call('accept', context(), never)).toMatchObject({
      outcome: 'unreachable',
      error: '"./none.sh" cannot be started: there is no such program',
    })
    expect(await driver.call('leave', context(), never)).toMatchObject({
      outcome: 'unreachable',
      error: '"./driver.yaml" cannot be started: it may not be executed',
    })
  })

  it('has an argument that cannot be passed to a program', async () => {
    const { driver } = await run('')
    const done = await driver.call('says', context({ text: 'a\0b' }), never)
    expect(done).toMatchObject({ outcome: 'unreachable', error: expect.stringContaining('null bytes') })
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
  const gone = (folder: string) => until(() => !pidsIn(folder).some(isThere))

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
