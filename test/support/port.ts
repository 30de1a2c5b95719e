/**
 * Finds free ports below the range that the system assigns for port 0 and outgoing connections. A file reserves each for
 * this process, so that no other test, also of another run, gets the same port between the check and its use.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LOWEST = 10_240
const HIGHEST = 32_000
const FOLDER = join(tmpdir(), 'handover-sim-test-ports')

/** Whether the port is reserved for this process now. */
function reserve(port: number): boolean {
  const file = join(FOLDER, String(port))
  mkdirSync(FOLDER, { recursive: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

/** Removes the files of processes that have ended. */
for (const name of existsSync(FOLDER) ? readdirSync(FOLDER) : [])
  try {
    process.kill(Number(readFileSync(join(FOLDER, name), 'utf8')), 0)
  } catch {
    rmSync(join(FOLDER, name), { force: true })
  }

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Returns a port that is free now and that the system does not assign by itself. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (reserve(port) && (await listens(port))) return port
  }
  throw new Error('Failed to find a free port in 1000 attempts')
}
