/** `npm run dev`: the page of Vite before a simulator that runs from its sources. */
import { expect, it } from 'vitest'
import { ROOT } from '../architecture/files.ts'
import { freePort } from '../support/port.ts'
import { startProgram } from './program.ts'

it('serves page and simulator at one loopback address, and ends both on a signal', async () => {
  const port = await freePort()
  const command = [process.execPath, 'scripts/dev.ts', `--port=${port}`, '--output', 'quiet']
  const { child, stdout, stderr, code } = startProgram(command, { cwd: ROOT, env: process.env })
  await Promise.race([stdout.until(/Ready: http/), code])
  const page = /Page: (http:\/\/127\.0\.0\.1:\d+\/)/.exec(await stdout.until(/Page: http\S+/))?.[1] ?? stderr.text
  expect(await (await fetch(page)).text()).toContain('/@vite/client')
  expect((await fetch(`${page}main.tsx`)).status).toBe(200)
  const origin = page.slice(0, -1)
  const made = await fetch(`${page}_sim/chats`, { method: 'POST', headers: { origin } })
  expect(made.status).toBe(201)
  child.kill('SIGINT')
  expect(await code).toBe(0)
  await expect(fetch(`http://127.0.0.1:${port}/_sim/readyz`)).rejects.toThrow()
  await expect(fetch(page)).rejects.toThrow()
})
