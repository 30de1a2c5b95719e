/** The driver of a run and its target: open until the run closes them, also after an interruption. */
import { expect, it } from 'vitest'
import { type AttachOptions, attach } from '../../src/commands/run-target.ts'
import { context, SIM } from '../agent-driver/desk.ts'
import { folderWith } from '../config/folder.ts'
import { freePort } from '../support/port.ts'
import { fakeIo } from './fake-io.ts'

const APP = `import { createServer } from 'node:http'
createServer((request, response) => response.end('{}')).listen(Number(process.env.PORT), '127.0.0.1')`

/** `ready` is the path at which the target answers that it is ready, or a port at which nothing does. */
async function options(readyPort?: number) {
  const port = await freePort()
  const folder = folderWith({
    'app.mjs': APP,
    'driver.yaml': `http: http://127.0.0.1:${port}
accept: { POST: /accept }
target:
  start: [${JSON.stringify(process.execPath)}, app.mjs]
  env: { PORT: "${port}" }
  ready: http://127.0.0.1:${readyPort ?? port}/`,
  })
  const closers: (() => unknown)[] = []
  const interruption = new AbortController()
  const target = `http://127.0.0.1:${port}/hook`
  const attached = {
    context: { io: fakeIo(folder), env: process.env, secrets: { add() {}, addUrl() {} } },
    flags: { target, agentDriver: 'driver.yaml' },
    resolved: { values: {}, agentDriver: null },
    wanted: [],
    router: { server: SIM },
    shutdown: { defer: (undo: () => unknown) => void closers.push(undo) },
    signal: interruption.signal,
  } as unknown as AttachOptions
  const close = () => Promise.all(closers.map(undo => undo()))
  return { attached, interruption, target, close }
}

const signal = () => new AbortController().signal

it('an interruption of the run leaves the driver and its target open until the run closes them', async () => {
  const { attached, interruption, target, close } = await options()
  const { driver } = await attach(attached)
  interruption.abort()
  // A second call comes after everything that the interruption may have begun.
  for (const _ of [1, 2]) expect(await driver!.call('accept', context(), signal())).toMatchObject({ outcome: 'ok' })
  expect((await fetch(target)).status).toBe(200)
  await close()
  await expect(fetch(target)).rejects.toThrow()
})

it('an interruption while the target starts gives the start up', async () => {
  const { attached, interruption, target, close } = await options(await freePort())
  const attaching = attach(attached)
  await expect
    .poll(() =>
      fetch(target).then(
        ({ status }) => status,
        () => null,
      ),
    )
    .toBe(200)
  interruption.abort()
  await expect(attaching).rejects.toThrow(/the run is over/)
  await expect(fetch(target)).rejects.toThrow()
  await close()
})
