/** Records conversations of clients that go away. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { started } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'

const post = (url: string, body: object, signal: AbortSignal | null = null) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), signal })

test('a recording whose client has gone while it waited does not run', async () => {
  const folder = join(folderWith(), 'recorded')
  const { url } = await started(['--scenarios', folder, '--output', 'quiet'])
  const { chat_id: id } = (await (await post(`${url}/_sim/chats`, {})).json()) as { chat_id: string }
  await post(`${url}/_sim/chats/${id}/press`, { button: 'handover' })
  const gone = new AbortController()
  const save = (name: string, signal: AbortSignal | null = null) =>
    post(`${url}/_sim/record`, { name, save: true }, signal)
  const first = save('first')
  const second = save('second', gone.signal)
  // An answer to a later request: the server has the recordings.
  await fetch(`${url}/_sim/livez`)
  gone.abort()
  await expect(second).rejects.toThrow()
  expect([(await first).status, (await save('third')).status]).toEqual([200, 200])
  expect(readdirSync(folder)).toEqual(['first.yaml', 'third.yaml'])
})
