/** What is left of the journal of `handover-sim proxy` when its process is killed. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { startWebhook } from '../support/network.ts'
import { freePort } from '../support/port.ts'
import { runCommand } from './fake-io.ts'
import { BIN, startProgram } from './program.ts'

it('is complete after kill -9, with half a last line too, and can be reported', async () => {
  await using webhook = await startWebhook()
  const cwd = folderWith()
  const port = await freePort()
  const { origin } = new URL(webhook.url)
  const where = ['--upstream', origin, '--webhook-url', origin, '--port', String(port)]
  const files = ['--delivery-path', '/_webhook/0123456789', '--journal', 'j.jsonl']
  const { child, stdout, code } = startProgram([process.execPath, BIN, 'proxy', ...where, ...files], { cwd })
  await stdout.until(/Ready/)
  const event = {
    event: 'REQUESTING TAKEOVER',
    bot: { id: 1, name: 'B' },
    chat: { _links: { self: 'x' }, id: 'c-7', language: 'en', source: 'web' },
    user: { id: 'aa' },
  }
  const call = (name: string) =>
    fetch(`http://127.0.0.1:${port}/api/v2/handover/${name}`, {
      method: 'POST',
      body: JSON.stringify({ bot_id: 1, chat_id: 'c-7', message: 'm' }),
    })
  await fetch(`http://127.0.0.1:${port}/_webhook/0123456789`, { method: 'POST', body: JSON.stringify(event) })
  for (const name of ['start', 'end', 'message/']) await (await call(name)).text()
  await fetch(`http://127.0.0.1:${port}/_sim/wait?call=message&timeout=30s`)
  child.kill('SIGKILL')
  expect(await code).toBe(null)

  const lines = readFileSync(join(cwd, 'j.jsonl'), 'utf8').trimEnd().split('\n')
  const kinds = lines.slice(1).map(line => JSON.parse(line).entry.kind)
  expect(kinds.filter(kind => kind === 'api')).toHaveLength(3)
  appendFileSync(join(cwd, 'j.jsonl'), lines.at(-1)!.slice(0, 40))
  const report = (...argv: string[]) => runCommand(['report', ...argv], { cwd })
  const { code: reported, out, err } = await report('j.jsonl')
  expect([reported, err + out]).toEqual([0, expect.stringMatching(/chat c-7[\s\S]*call-after-end/)])
  expect((await report('j.jsonl', '--strict')).code).toBe(1)
  // In the middle, a line that is no JSON is not left out.
  writeFileSync(join(cwd, 'broken.jsonl'), [lines[0], '{"v":2,', lines[1]].join('\n'))
  expect(await report('broken.jsonl')).toMatchObject({ code: 2, err: expect.stringContaining('broken.jsonl:2') })
})
