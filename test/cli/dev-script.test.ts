/** `npm run dev`: the page of Vite before a simulator that runs from its sources. */
import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { freePort } from '../support/port.ts'
import { fakeOutput } from './fake-io.ts'

it('serves page and simulator at one loopback address, and ends both on a signal', async () => {
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/dev.ts', `--port=${port}`, '--output', 'quiet'], { cwd: ROOT })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  child.stdout.setEncoding('utf8').on('data', stdout.write)
  child.stderr.setEncoding('utf8').on('data', stderr.write)
  const ended = new Promise(resolve => child.on('close', resolve))
  await Promise.race([stdout.until(/Ready: http/), ended])
  const page = /Page: (http:\/\/127\.0\.0\.1:\d+\/)/.exec(await stdout.until(/Page: http\S+/))?.[1] ?? stderr.text
  expect(await (await fetch(page)).text()).toContain('/@vite/client')
  expect((await fetch(`${page}main.tsx`)).status).toBe(200)
  const origin = page.slice(0, -1)
  const made = await fetch(`${page}_sim/chats`, { method: 'POST', headers: { origin } })
  expect(made.status).toBe(201)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  await expect(fetch(`http://127.0.0.1:${port}/_sim/readyz`)).rejects.toThrow()
  await expect(fetch(page)).rejects.toThrow()
})
