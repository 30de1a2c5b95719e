/** Types the commands of section "By hand" in examples/intermediary/README.md. */
import { expect, it } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { blocks, hasShell, read, run, runInShell, section } from '../docs/pages.ts'
import { launch, NODE } from './program.ts'

const hasOpenssl = (await run('openssl', ['version'])).code === 0

it.skipIf(!hasShell || !hasOpenssl)('a handover by hand (needs bash, curl and openssl)', async () => {
  await using sim = await startSimulator({ port: 0 })
  const { url } = await launch(NODE, { HANDOVER_SIM_URL: sim.url, HANDOVER_SIM_API_KEY: sim.apiKey })
  const chat = await sim.chat({ id: 'c1' })
  const [lines = ''] = blocks(section(read('examples/intermediary/README.md'), 'By hand'), 'sh')
  const { code, stdout, stderr } = await runInShell(lines.replaceAll('http://127.0.0.1:3000', url))
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('HTTP/1.1 200 OK')
  expect(stdout).toContain('[{"request":true}]')
  await sim.journal.waitFor(entry => entry.kind === 'api' && entry.endpoint === 'end', { withinMs: 30_000 })
  expect(chat.transcript.map(({ name, text }) => `${name}: ${text}`)).toEqual([
    'Nora: Anna has joined the chat.',
    'Anna: Hello, this is Anna.',
    'Nora: Anna has left the chat.',
  ])
})
