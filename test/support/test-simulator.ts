/** One simulator with a recording webhook behind a door, put away when its test is over. */
import { expect, onTestFinished } from 'vitest'
import type { PlatformSimulatorOptions } from '../../src/simulator/options.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/simulator/simulator.ts'
import { type Adapter, inProcess } from './adapters.ts'
import { type Api, api, type Send } from './api.ts'
import { createReceiver, type Receiver } from './receiver.ts'

export interface TestSimulator {
  readonly sim: PlatformSimulator
  readonly hook: Receiver
}

export interface SimulatorSetup extends TestSimulator {
  readonly api: Api
  /** A request as it is, to a path of the platform. */
  readonly send: Send
}

const withHook = (options: PlatformSimulatorOptions, hook: Receiver): PlatformSimulatorOptions => ({
  ...options,
  webhook: { ...options.webhook, fetch: hook.fetch },
})

/** Every payload must have been as the contract describes it. */
function closeAfterTest({ sim, hook }: TestSimulator): void {
  onTestFinished(async () => {
    await sim.close()
    expect(hook.problems).toEqual([])
  })
}

export function createTestSimulator(options: PlatformSimulatorOptions = {}): TestSimulator {
  const hook = createReceiver()
  const made = { sim: createPlatformSimulator(withHook(options, hook)), hook }
  closeAfterTest(made)
  return made
}

export async function setUp(
  adapter: Adapter = inProcess,
  options: PlatformSimulatorOptions = {},
): Promise<SimulatorSetup> {
  const hook = createReceiver()
  const sim = await adapter.create(withHook(options, hook))
  closeAfterTest({ sim, hook })
  const send: Send = (path, init) => adapter.send(sim, path, init)
  return { sim, hook, send, api: api(sim, send) }
}
