/** Serves a coding assistant over the Model Context Protocol (`handover-sim mcp`): tools, and the pages of the documentation. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { packagePath } from '../base/runtime/node.ts'
import { urlOf } from '../base/text/hosts.ts'
import { VERSION } from '../platform/contract/version.ts'
import { LazyReadiness } from '../running/certifier/load.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import { PortInUseError } from '../server/listen-error.ts'
import { startServer } from '../server/start.ts'
import { configSources, defineCommand, type FlagsOf, SETTING_FLAGS } from './command.ts'
import { type Context, createShutdown, END_CODES, EnvironmentError, type Shutdown } from './io.ts'
import { addTools, ToolError, type WorkspaceClient } from './mcp-tools.ts'
import {
  callControl,
  findSimulator,
  noResponseError,
  type RunningSimulator,
  refusalMessage,
} from './running-simulator.ts'
import { type AttachedAgent, attachDriver } from './start-agent.ts'

const FLAGS = {
  '--url <url>': 'a running simulator, whose chats the assistant shares (default: one of its own)',
  '--agent-driver <file>': 'the agent of the help desk, by an agent driver file',
  '--allow-remote': 'the agent driver may be read from another machine',
  ...SETTING_FLAGS,
} as const

type McpFlags = FlagsOf<typeof FLAGS>

const INSTRUCTIONS = `handover-sim plays a chatbot platform and its end user for the service under test, which receives the platform's
signed webhooks and calls its handover API. Call status first: it has the address and the key that the service must use. Then
open_chat with ask_for_agent, agent accept, user and agent texts; wait_for and journal show what the service did, explain says why
something is wrong and which page to read, certify finds known mistakes, play runs a scenario.`

export const mcpCommand = defineCommand({
  flags: FLAGS,
  groups: { 'Most used': ['webhookUrl', 'agentDriver', 'url'] },
  examples: {
    'mcp --webhook-url http://127.0.0.1:3000/webhook --agent-driver driver.yaml': 'a simulator for this session',
    'mcp --url http://127.0.0.1:4747': 'the simulator that you watch in the browser',
  },
  async run(context, flags) {
    const { io } = context
    const shutdown = createShutdown(io)
    try {
      const { stdin, stdout } = process
      const { url, port: _, ...address } = flags
      const simulator =
        url === undefined
          ? await ownSimulator(flags, context, shutdown)
          : await findSimulator(context, { ...address, url })
      if (simulator === null) return END_CODES.request
      const control = controlClient(simulator)
      const served = serveStdio(() => createMcpServer(control), {
        transport: new StdioServerTransport(stdin, stdout),
        onerror: error => io.stderr.write(`mcp: ${error.message}\n`),
      })
      shutdown.defer(() => served.close())
      stdin.once('end', shutdown.request).once('close', shutdown.request)
      const reason = await shutdown.ended
      return reason === 'request' ? 0 : END_CODES[reason]
    } finally {
      await shutdown.run()
    }
  },
})

async function ownSimulator(flags: McpFlags, context: Context, shutdown: Shutdown): Promise<RunningSimulator> {
  const { io, secrets } = context
  const { url: _, ...settings } = flags
  const resolved = await resolveSettings(settings, configSources(context))
  for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)
  let attached: AttachedAgent | null = null
  const readiness = new LazyReadiness(() => attached?.loadDriver ?? null)
  const server = await startServer(resolved.options, undefined, secrets, {
    agent: () => attached?.agent ?? null,
    loadReadiness: readiness.load,
  }).catch(error => {
    if (!(error instanceof PortInUseError)) throw error
    const url = urlOf(error.host, error.port)
    throw new EnvironmentError(`${error.message} To share the chats of a simulator there, use --url ${url}.`)
  })
  shutdown.defer(() => server.close())
  const driverFile = flags.agentDriver ?? resolved.agentDriver
  if (driverFile !== null) attached = await attachDriver(server, driverFile, flags, context, shutdown)
  io.stderr.write(`mcp: a simulator at ${server.url} for this session\n`)
  return { url: server.url, token: server.controlToken }
}

function controlClient(simulator: RunningSimulator): WorkspaceClient {
  const call = async (method: string, path: string, body: unknown, signal: AbortSignal) => {
    const response = await callControl(simulator, method, path, body, signal)
    if ('code' in response) throw new ToolError(noResponseError(simulator.url, response).message)
    if (response.status >= 400) throw new ToolError(refusalMessage(simulator, response), response.body)
    return response.body as never
  }
  return {
    url: simulator.url,
    get: (path, signal) => call('GET', path, undefined, signal),
    send: call,
  }
}

function createMcpServer(control: WorkspaceClient): McpServer {
  const server = new McpServer({ name: 'handover-sim', version: VERSION }, { instructions: INSTRUCTIONS })
  addTools(server, control)
  const docs = packagePath('docs')
  if (docs === null) return server
  const files = readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .map(file => file.replaceAll('\\', '/'))
    .filter(file => file.endsWith('.md') && !file.endsWith('README.md'))
    .sort()
  // `docs://lint`, `docs://checks/SIG-01`: without the kind of the page, except where two pages have the same name.
  const shortNames = files.map(file => file.replace(/^(tutorials|how-to|reference|explanation)\/|\.md$/g, ''))
  for (const [index, file] of files.entries()) {
    const shortName = shortNames[index]!
    const isUnique = shortNames.indexOf(shortName) === shortNames.lastIndexOf(shortName)
    const name = isUnique ? shortName : file.replace(/\.md$/, '')
    const text = readFileSync(join(docs, file), 'utf8')
    const title = /^# (.+)$/m.exec(text)?.[1] ?? name
    server.registerResource(name, `docs://${name}`, { title, mimeType: 'text/markdown' }, async uri => ({
      contents: [{ uri: uri.href, mimeType: 'text/markdown', text }],
    }))
  }
  return server
}
