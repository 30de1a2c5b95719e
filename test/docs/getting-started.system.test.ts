/** Types the commands of docs/tutorials/getting-started.md, and replays what `record` writes of them. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { startSimulator } from '../../src/index.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { launch, NODE, PYTHON, RUBY } from '../examples/program.ts'
import { startWebhook } from '../support/network.ts'
import { freePort } from '../support/port.ts'
import { blocks, hasShell, read, runInShell, section } from './pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of every endpoint
type Answers = any[]

/** Types a block, and returns the answers of its calls. */
async function perform(block: string, env: Record<string, string>): Promise<Answers> {
  const result = await runInShell(block, env)
  expect(result, block).toMatchObject({ code: 0, stderr: '' })
  const lines = result.stdout.replaceAll('}{', '}\n{').split('\n')
  return lines.map(line => JSON.parse(line))
}

const PAGE = read('docs/tutorials/getting-started.md')

it.skipIf(!hasShell)('plays a whole handover (needs bash and curl)', async () => {
  await using webhook = await startWebhook()
  await using server = await startSimulator({ port: 0, webhook: { url: webhook.url } })
  let CHAT = ''
  const performed = (block: string) => perform(block, { SIM: server.url, CHAT })
  const [create, ask, start, transcript, write, answerAndEnd, journal, ...more] = blocks(PAGE, 'sh')
  expect(more).toEqual([])

  const [created] = await performed(create!)
  CHAT = created.chat_id
  const chat = server.findChat(CHAT)!
  expect(chat.transcript.length).toBeGreaterThan(3)

  expect(await performed(ask!)).toMatchObject([{ ack: { status: 200 } }])
  expect(chat.status).toBe('pending')
  expect(await performed(start!)).toMatchObject([{ event: 'TAKEOVER STARTED', chat_id: CHAT }])
  expect(chat.status).toBe('agent')
  const [{ chat: record }] = await performed(transcript!)
  expect(record.messages).toHaveLength(chat.transcript.length)
  expect(await performed(write!)).toMatchObject([{ ack: { status: 200 } }])
  expect(webhook.bodies.map(body => JSON.parse(body).event)).toEqual(['REQUESTING TAKEOVER', 'MESSAGE FROM USER'])
  expect(JSON.parse(webhook.bodies[1]!).message).toBe('My parcel is lost 😢')
  const ends = [{ event: 'MESSAGE SENT TO USER' }, { event: 'TAKEOVER ENDED' }]
  expect(await performed(answerAndEnd!)).toMatchObject(ends)
  expect(chat.status).toBe('bot')
  expect(chat.transcript.slice(-2)).toMatchObject([{ name: 'Anna', text: 'We will fix that!' }, { name: 'Poppy' }])

  const [{ entries }] = await performed(journal!)
  const calls = (entries as Answers).filter(({ kind }) => kind === 'api')
  const expected = ['start', 'chat', 'message', 'end'].map(endpoint => ({ endpoint, status: 200 }))
  expect(calls).toMatchObject(expected)
  expect((entries as Answers).flatMap(({ findings }) => findings ?? [])).toEqual([])
})

it.skipIf(!hasShell).for([NODE, PYTHON, RUBY])(
  'what record writes of these steps passes against $name',
  async (example, { skip }) => {
    const [program] = example.command
    skip(spawnSync(program, ['--version']).status !== 0, `${program} is not installed`)
    const cwd = folderWith()
    const commands = blocks(section(PAGE, 'Keep it as a test'), '')[0]!.trim().split('\n')
    const [record, stop, replay] = commands.map(line => line.split(' ').slice(2))
    {
      await using webhook = await startWebhook()
      await using server = await startSimulator({ port: 0, webhook: { url: webhook.url } })
      let CHAT = ''
      for (const block of blocks(PAGE, 'sh')) {
        const [answer] = await perform(block, { SIM: server.url, CHAT })
        if (CHAT === '') CHAT = answer.chat_id
      }
      expect(await main([...record!, '--url', server.url], {}, fakeIo(cwd))).toBe(0)
    }
    expect(stop).toEqual(['stop'])
    const port = await freePort()
    const intermediary = await launch(example, { HANDOVER_SIM_URL: `http://127.0.0.1:${port}` })
    const local = (text: string) => text.replaceAll('http://127.0.0.1:3000', intermediary.url)
    const driver = local(read(`examples/${example.name}/driver.yaml`))
    writeFileSync(join(cwd, 'driver.yaml'), driver.replace(/^target:[\s\S]*/m, ''))
    const io = fakeIo(cwd)
    const command = [...replay!.map(local), '--port', String(port)]
    expect(await main(command, {}, io), io.stdout.text + io.stderr.text).toBe(0)
    expect(io.stdout.text).toMatch(/^PASS /)
  },
)
