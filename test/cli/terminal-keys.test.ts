/** The keys of `start`: each acts as its text says, through the control API. */
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { serveExample } from '../support/example-service.ts'
import { fakeIo, started } from './fake-io.ts'

async function startWithKeys(flags: string[], answers: string[] = [], files = {}) {
  const io = fakeIo(folderWith(files), true, '', answers)
  const simulator = await started(flags, { NO_COLOR: '1' }, io)
  await io.stderr.until(/Press h for the keys/)
  /** Presses a key, and waits for what it shows. */
  const press = (key: string, shows: RegExp) => {
    io.press(key)
    return io.stderr.until(shows)
  }
  return { ...simulator, press }
}

it('play a whole handover in the help desk of the agent driver', async () => {
  const example = await serveExample()
  const flags = ['--webhook-url', example.webhookUrl, '--agent-driver', 'd.json']
  const answers = ['Where is it?', 'In the post']
  const { url, press, code } = await startWithKeys(flags, answers, { 'd.json': example.driver })
  example.usePlatform(url)
  await press('c', /platform +chat/)
  await press('p', /REQUESTING TAKEOVER\n.*answer 200/)
  // The intermediary then reads what was written before.
  await press('a', /the bot says "Anna has joined the chat\."[\s\S]*GET chat\n.*answer 200/)
  await press('u', /MESSAGE FROM USER "Where is it\?"\n.*answer 200/)
  await press('m', /POST message as Anna "In the post"/)
  await press('r', /MESSAGE FROM USER "Where is it\?", sent again\n.*answer 200/)
  await press('l', /the bot says "Anna has left the chat\."/)
  await press('q', /Shutting down/)
  expect(await code).toBe(0)
})

it('open and close the handover, copy the address, clear the screen', async () => {
  const { press, url } = await startWithKeys([])
  await press('x', /CLOSED/)
  await press('o', /OPEN/)
  const copied = await press('y', /Copied, where the terminal allows it: http/)
  expect(copied).toContain(`\x1b]52;c;${Buffer.from(url).toString('base64')}\x07`)
  await press('k', /\[2J/)
})

it('say what is missing', async () => {
  const { press } = await startWithKeys(['--no-inspector'])
  await press('r', /No event was sent so far/)
  await press('a', /There is no chat yet: c begins one/)
  await press('w', /There is no page with --no-inspector/)
  await press('Z', /There is no key "Z"\. h lists the keys/)
  await press('c', /platform +chat/)
  await press('a', /agent driver/)
  expect(await press('h', /q {2}stop the simulator/)).toContain('  c  begin a new chat\n')
})

it.each([['--json'], ['--output', 'compact']])('are not read with %s', async (...flags) => {
  const io = fakeIo(folderWith(), true, '', [])
  const { stop } = await started(flags, {}, io)
  io.press('q')
  expect(io.stderr.text).not.toContain('Press h')
  expect(await stop()).toBe(130)
})
