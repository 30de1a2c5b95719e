/** Commands reach a simulator on this machine although the environment names a proxy, as companies set one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../src/server/start.ts'
import { ROOT } from '../architecture/files.ts'

/** Nothing listens there. */
const PROXY = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' }

it.each([{}, { NO_PROXY: 'intern.example' }, { no_proxy: 'intern.example' }])('with %j', async env => {
  const server = await startServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  const { NO_PROXY: _, no_proxy: __, ...others } = process.env
  const args = ['bin/handover-sim.js', 'wait', '--url', server.url, '--timeout', '2s']
  const program = spawn(process.execPath, args, { cwd: ROOT, env: { ...others, ...PROXY, ...env }, stdio: 'ignore' })
  const [code] = await once(program, 'exit')
  expect(code).toBe(0)
})
