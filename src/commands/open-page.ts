/** Opens the page of the inspector in the user's browser (`handover-sim start --open`). */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context, Shutdown } from './io.ts'

/** Programs that open an address. None is a shell, so no part of the address is read as a command. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const OTHER = ['xdg-open']

/** Resolves when the opener runs, or after one line that says why it does not. */
export async function openPage(url: string, { env, unredacted }: Context, shutdown: Shutdown): Promise<void> {
  const say = (why: string, shown = url) =>
    unredacted.stderr.write(`--open: ${why}. Open the page yourself: ${shown}\n`)
  // Logs of CI are kept, so the token behind the # stays out of them.
  if (env.CI !== undefined && env.CI !== '' && env.CI !== 'false')
    return say('no page is opened where CI is set', url.replace(/#.*/, ''))
  const [command = '', ...args] = OPENERS[process.platform] ?? OTHER
  const address = url.includes('#') ? writeRedirect(url, shutdown) : url
  const child = spawn(command, [...args, address], { env, stdio: 'ignore', detached: true, windowsHide: true })
  child.once('exit', code => {
    if (code !== 0 && code !== null) say(`${command} ended with exit code ${code}`)
  })
  const failure = await failureOf(child)
  if (failure === null) child.unref()
  else say(failure.code === 'ENOENT' ? `${command} is not installed` : failure.message)
}

const failureOf = (child: ChildProcess): Promise<NodeJS.ErrnoException | null> =>
  new Promise(resolve => {
    child.once('spawn', () => resolve(null))
    child.once('error', resolve)
  })

/** Other users of the machine can read the arguments of a program, and not this file. Returns its path. */
function writeRedirect(url: string, shutdown: Shutdown): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-page-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  shutdown.defer(remove, remove)
  const path = join(folder, 'page.html')
  const address = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const head = `<meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${address}"><title>handover-sim</title>`
  writeFileSync(path, `<!doctype html>${head}\n`, { mode: 0o600 })
  return path
}
