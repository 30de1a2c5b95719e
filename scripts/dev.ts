/**
 * Serves the page with Vite, which reloads it on changes, and runs the simulator from its sources, which restarts on
 * changes (`npm run dev`). Further arguments are those of `start`: `npm run dev -- --demo`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const SIMULATOR = '--simulator'
const PATHS = ['/_sim', '/api', '/files']

const args = process.argv.slice(2)
if (args[0] === SIMULATOR) await runSimulator(args.slice(1))
else await serve(args)

async function runSimulator(argv: readonly string[]): Promise<void> {
  const { main } = await import('../src/commands/main.ts')
  process.exitCode = await main(argv)
}

async function serve(argv: readonly string[]): Promise<void> {
  const options = { port: { type: 'string', default: '4747' } } as const
  const { port } = parseArgs({ args: [...argv], options, strict: false }).values
  const simulator = startSimulator(['--port', '4747', ...argv])
  const page = await startPage(`http://127.0.0.1:${port}`).catch(error => {
    simulator.kill()
    throw error
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => simulator.kill())
  simulator.once('exit', () => void page.close())
}

/** The page comes from Vite, so the simulator serves none. */
function startSimulator(argv: readonly string[]): ChildProcess {
  const command = ['--watch', '--watch-preserve-output', fileURLToPath(import.meta.url), SIMULATOR]
  return spawn(process.execPath, [...command, 'start', '--no-inspector', ...argv], { stdio: 'inherit' })
}

/** Listens on a loopback address: the page has the rights of the simulator. */
async function startPage(simulator: string) {
  const { createServer } = await import('vite')
  const { pageRoot } = await import('./build/page.ts')
  // The simulator compares the host of a request with that of the page.
  const proxied = { target: simulator, changeOrigin: false }
  const server = await createServer({
    ...pageRoot(fileURLToPath(new URL('..', import.meta.url))),
    server: { host: '127.0.0.1', proxy: Object.fromEntries(PATHS.map(path => [path, proxied])) },
  })
  await server.listen()
  console.log(`Page: ${server.resolvedUrls?.local[0]}`)
  return server
}
