/** Opens the page of the inspector in the user's browser (`handover-sim start --open`). */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Context } from './io.ts'

/** Programs that open an address. None is a shell, so no part of the address is read as a command. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const OTHER = ['xdg-open']

/** Resolves when the opener runs, or after one line that says why it does not. */
export async function openPage(url: string, { env, unredacted }: Context): Promise<void> {
  const say = (why: string) => unredacted.stderr.write(`--open: ${why}. Open the page yourself: ${url}\n`)
  if (env.CI !== undefined && env.CI !== '' && env.CI !== 'false') return say('no page is opened where CI is set')
  const [command = '', ...args] = OPENERS[process.platform] ?? OTHER
  const child = spawn(command, [...args, url], { env, stdio: 'ignore', detached: true, windowsHide: true })
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
