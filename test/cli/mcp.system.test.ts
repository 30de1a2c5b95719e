/** `handover-sim mcp`: the built package as a coding assistant uses it. `npm test` builds first. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { ROOT } from '../architecture/files.ts'
import { folderWith } from '../config/folder.ts'
import { patchesOf } from '../mutants/changes.ts'
import type { BugName } from '../mutants/patches.ts'
import { serveExample } from '../support/example-service.ts'
import { freePort } from '../support/port.ts'
import { BIN } from './program.ts'

/** Connects as an assistant does. */
async function connect(...flags: string[]) {
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  const args = [BIN, 'mcp', ...flags]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folderWith(), stderr: 'pipe' }))
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: input })
    const text = content.map(one => (one.type === 'text' ? one.text : '')).join('\n')
    // biome-ignore lint/suspicious/noExplicitAny: the answers of ten tools
    return { text, data: structuredContent as any, isError }
  }
  return { client, call }
}

/** A simulator whose webhook is the example with this bug, with the agent driver of the example. */
async function connectToExample(bug: BugName | null) {
  const port = await freePort()
  const example = await serveExample({ patches: patchesOf(bug), platformUrl: `http://127.0.0.1:${port}` })
  const driver = join(folderWith({ 'driver.json': example.driver }), 'driver.json')
  return connect('--port', String(port), '--webhook-url', example.webhookUrl, '--agent-driver', driver)
}

describe('mcp', () => {
  it('has ten tools with schemas, and the pages of the documentation', async () => {
    const { client } = await connect('--port', '0')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['status', 'open_chat', 'user', 'agent', 'wait_for', 'journal', 'explain', 'play', 'certify', 'configure'],
    ])
    for (const tool of tools) {
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: expect.anything() })
      expect(tool.annotations?.readOnlyHint).toBeDefined()
    }
    const { resources } = await client.listResources()
    // Two pages are named explore.
    const pages = ['docs://lint', 'docs://checks/SIG-01', 'docs://how-to/explore', 'docs://reference/explore']
    expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(pages))
    const { contents } = await client.readResource({ uri: 'docs://lint' })
    expect(contents).toMatchObject([{ text: readFileSync(`${ROOT}docs/reference/lint.md`, 'utf8') }])
  })

  it('plays a whole handover', async () => {
    const { call } = await connectToExample(null)
    const status = await call('status')
    expect(status.data).toMatchObject({ bot_id: 1042, agent: { plays: 'driver', problem: null }, chats: [], wrong: [] })
    expect((await call('open_chat', { ask_for_agent: true })).text).toMatch(/is open\. .* The webhook answered 200 in/)
    expect((await call('agent', { verb: 'accept' })).data).toMatchObject({ outcome: 'ok' })
    const { data: start } = await call('wait_for', { call: 'start' })
    expect(start).toMatchObject({ found: true, entry: { kind: 'api' } })
    await call('user', { text: 'Where is my parcel?' })
    expect((await call('agent', { verb: 'inbox' })).text).toContain('Where is my parcel?')
    await call('agent', { verb: 'says', text: 'On its way.' })
    await call('wait_for', { call: 'message' })
    await call('agent', { verb: 'leave' })
    expect((await call('wait_for', { call: 'end', after: start.entry.seq })).data.found).toBe(true)
    expect((await call('user', { leave: 'close' })).text).toBe('The user closes the chat.')
    const journal = await call('journal', { limit: 30 })
    expect(journal.text).toMatch(/end [\s\S]*closes the chat/)
    const latest = await call('journal', { limit: 3 })
    expect(latest.data.lines).toHaveLength(3)
    expect(latest.text).toMatch(/earlier entries not shown: pass limit\./)
    expect((await call('explain')).text).toMatch(/^Chat [\w-]+: nothing is wrong so far|Rests on assumptions/)
    expect((await call('play', { builtin: 'happy-path.yaml' })).text).toMatch(/^pass in /)
    const { data: tried } = await call('certify', { only: ['SIG-01', 'sig-02', 'RST'] })
    const checks = [{ outcome: 'pass' }, { outcome: 'pass' }]
    expect(tried).toMatchObject({ checks, not_tried: [{ check: 'RST-01' }] })
  })

  it('finds the signature over parsed JSON', async () => {
    const { call } = await connectToExample('restringifies')
    await call('configure', { knobs: { 'webhook.json': 'spaced' } })
    expect((await call('open_chat', { ask_for_agent: true })).text).toContain('did not acknowledge')
    const { text, data } = await call('explain')
    expect(data.diagnosis.happened).toMatch(/verifies JSON that it has parsed and written again/)
    expect(text).toContain('Fix: Sign and verify the raw bytes')
  })

  it('finds an end that the platform does not get', async () => {
    const { call } = await connectToExample('ends-locally')
    expect((await call('play', { builtin: 'happy-path.yaml' })).text).toMatch(/^fail[\s\S]*expected .*end/)
    const end = await call('wait_for', { call: 'end', timeout: '1ms' })
    expect(end.data).toMatchObject({ found: false, entry: null })
  })

  it('shares a running simulator, whose chats stay', async () => {
    const sim = await startSimulator({ port: 0 })
    onTestFinished(() => sim.close())
    const { client, call } = await connect('--url', sim.url)
    const { data } = await call('open_chat')
    await client.close()
    expect(sim.chats().map(({ chatId }) => chatId)).toEqual([data.chat_id])
  })

  it('says what is wrong with a call', async () => {
    const { call } = await connect('--port', '0')
    const mistakes: [tool: string, input: Record<string, unknown>, message: RegExp][] = [
      ['user', { text: 'Hi' }, /There is no chat yet: call open_chat first\./],
      ['explain', { seq: 99 }, /The journal has no entry 99/],
      ['play', { builtin: 'happy-path.yaml' }, /No webhook is set/],
      ['certify', { only: ['XYZ'] }, /No check begins with XYZ: they are SIG-01/],
      ['configure', { knobs: { 'typing.webhok': 'off' } }, /did you mean typing\.webhook/],
      ['wait_for', { call: 'begin' }, /Invalid/],
    ]
    for (const [tool, input, message] of mistakes) {
      const { text, isError } = await call(tool, input)
      expect([tool, isError, text]).toEqual([tool, true, expect.stringMatching(message)])
    }
    const absent = await connect('--url', `http://127.0.0.1:${await freePort()}`)
    expect((await absent.call('status')).text).toContain('No simulator answers')
  })
})
