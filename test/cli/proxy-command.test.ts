/** `handover-sim proxy` in this process: its settings, and what it leaves alone. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { fakeIo, runCommand } from './fake-io.ts'

const BOTH = ['--upstream', 'https://bot.example.test', '--webhook-url', 'http://127.0.0.1:9/webhook']

it.each([
  ['kept.jsonl', 2, 'the file exists'],
  ['kept.jsonl/j', 3, 'EEXIST|ENOTDIR'],
])('a journal that cannot be created ends it, and a file that exists is left as it is: %s', async (file, exit, why) => {
  const files = { 'kept.jsonl': 'precious' }
  const { code, err, cwd } = await runCommand(['proxy', ...BOTH, '--port', '0', '--journal', file], { files })
  expect([code, err]).toEqual([exit, expect.stringMatching(`^Failed to create the journal "${file}": (${why})`)])
  expect(readFileSync(join(cwd, 'kept.jsonl'), 'utf8')).toBe('precious')
})

it('takes its settings from the config file', async () => {
  const proxy = '{ upstream: "https://bot.example.test", delivery_path: /_webhook/0123456789, journal: j.jsonl }'
  const config = `proxy: ${proxy}\nwebhook: { url: "http://127.0.0.1:9/hook" }\n`
  const io = fakeIo(folderWith({ 'handover-sim.config.yaml': config }))
  const code = main(['proxy', '--port', '0', '--json'], {}, io)
  const ready = JSON.parse(await io.stdout.until(/\n/))
  expect(ready).toMatchObject({
    ...{ upstream: 'https://bot.example.test/', webhookUrl: 'http://127.0.0.1:9/hook', journal: 'j.jsonl' },
    deliveryUrl: `${ready.url}/_webhook/0123456789`,
  })
  io.signal('SIGTERM')
  expect(await code).toBe(143)
})

it('draws another delivery path with every start, and prints where to set it', async () => {
  const paths = new Set<string>()
  for (const _ of [1, 2]) {
    const io = fakeIo(folderWith())
    const code = main(['proxy', ...BOTH, '--port', '0', '--output', 'quiet'], {}, io)
    const text = await io.stderr.until(/journal/)
    paths.add(/https:\/\/YOUR-TUNNEL(\/_webhook\/[\w-]{32})/.exec(text)?.[1] ?? '')
    io.signal('SIGINT')
    await code
  }
  expect(paths.size).toBe(2)
  expect(paths).not.toContain('')
})
