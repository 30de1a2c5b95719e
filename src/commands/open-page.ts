/** Opens the page of the inspector in the user's browser (`handover-sim start --open`). */
import { spawn } from 'node:child_process'
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
  // Logs of CI are stored, so the token behind the # stays out of them.
  if (env.CI !== undefined && env.CI !== '' && env.CI !== 'false')
    return say('no page is opened where CI is set', url.replace(/#.*/, ''))

  let address = url
  if (url.includes('#')) {
    // Other users of the machine can read the arguments of a program, and not a file that redirects.
    const folder = mkdtempSync(join(tmpdir(), 'handover-sim-page-'))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    shutdown.defer(remove, remove)
    address = join(folder, 'page.html')
    const target = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const head = `<meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${target}"><title>handover-sim</title>`
    writeFileSync(address, `<!doctype html>${head}\n`, { mode: 0o600 })
  }
  const [command = '', ...args] = OPENERS[process.platform] ?? OTHER
  const child = spawn(command, [...args, address], { env, stdio: 'ignore', detached: true, windowsHide: true })
  child.once('exit', code => {
    if (code !== 0 && code !== null) say(`${command} ended with exit code ${code}`)
  })
  const failure = await new Promise<NodeJS.ErrnoException | null>(resolve => {
    child.once('spawn', () => resolve(null))
    child.once('error', resolve)
  })
  if (failure === null) child.unref()
  else say(failure.code === 'ENOENT' ? `${command} is not installed` : failure.message)
}
