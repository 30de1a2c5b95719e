/** Runs the commands of section "By hand" in examples/intermediary/README.md. */
import { expect, it } from 'vitest'
import { blocks, hasShell, read, run, runInShell, section } from '../docs/pages.ts'
import { setUpExample } from './example-setup.ts'
import { NODE } from './program.ts'

const hasOpenssl = (await run('openssl', ['version'])).code === 0

it.skipIf(!hasShell || !hasOpenssl)('a handover by hand (needs bash, curl and openssl)', async () => {
  const { sim, program, call } = await setUpExample(NODE)
  const chat = await sim.chat({ id: 'c1' })
  const [lines = ''] = blocks(section(read('examples/intermediary/README.md'), 'By hand'), 'sh')
  const typed = lines.replaceAll('http://127.0.0.1:3000', program.url)
  const { code, stdout, stderr } = await runInShell(typed)
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('HTTP/1.1 200 OK')
  expect(stdout).toContain('[{"request":true}]')
  for (const endpoint of ['start', 'message', 'end'] as const) await call(endpoint)
  expect(chat.transcript.map(({ name, text }) => `${name}: ${text}`)).toEqual([
    'Nora: Anna has joined the chat.',
    'Anna: Hello, this is Anna.',
    'Nora: Anna has left the chat.',
  ])
})
