/** `start --open`: the program that opens the page, and what it is given. */
import { chmodSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../config/folder.ts'
import { started } from './fake-io.ts'
import { BIN, startProgram } from './program.ts'

const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open'

/** A PATH with an opener that runs this script, and what the opener was given, once it was. */
function withOpener(script: string) {
  const folder = folderWith({ [OPENER]: `#!/bin/sh\n${script}\n` })
  chmodSync(join(folder, OPENER), 0o755)
  const given = () => readFile(join(folder, `${OPENER}.args`), 'utf8').catch(() => '')
  return { env: { PATH: `${folder}:${process.env.PATH}` }, given }
}

const NOTE = 'printf "%s %s" "$#" "$1" > "$0.args"'

describe.skipIf(process.platform === 'win32')('start --open', () => {
  it('passes the address to the opener as one argument, also in the background', async () => {
    const { env, given } = withOpener(NOTE)
    const { url, stop } = await started(['--open'], env)
    await expect.poll(given).toBe(`1 ${url}/`)
    await stop()

    const detached = withOpener(NOTE)
    const command = (...args: string[]) => startProgram([process.execPath, BIN, ...args], { env: detached.env })
    const { stdout, code } = command('start', '--detach', '--open', '--port', '0')
    expect(await code).toBe(0)
    const [page = ''] = /http:\/\/\S+/.exec(stdout.text) ?? []
    onTestFinished(async () => void (await command('stop', '--url', page).code))
    await expect.poll(detached.given).toBe(`1 ${page}/`)
    expect((await fetch(`${page}/_sim/readyz`)).status).toBe(200)
  })

  it('keeps the token out of the arguments, in a file for the user alone that is removed at the end', async () => {
    const { env, given } = withOpener(NOTE)
    const { stop } = await started(['--open'], { HANDOVER_SIM_TOKEN: 'page-token-4711', ...env })
    await expect.poll(given).toMatch(/page\.html$/)
    const path = (await given()).slice('1 '.length)
    expect(await readFile(path, 'utf8')).toMatch(/url=http:\/\/127\.0\.0\.1:\d+\/#token=page-token-4711"/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await stop()
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })

  it('says in one line that there is no opener, or that it failed, and serves', async () => {
    const { io, url } = await started(['--open'], { PATH: folderWith() })
    expect(io.stderr.text).toMatch(
      new RegExp(`^--open: ${OPENER} is not installed\\. Open the page yourself: ${url}/\\n`),
    )
    expect((await fetch(`${url}/_sim/readyz`)).status).toBe(200)
    const failing = await started(['--open'], withOpener('exit 3').env)
    await failing.io.stderr.until(/--open: (xdg-)?open ended with exit code 3\. Open the page yourself: http/)
  })
})
