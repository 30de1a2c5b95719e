/** One simulator with a recording webhook behind a door, put away when its test is over. */
import { expect, onTestFinished } from 'vitest'
import type { PlatformSimulatorOptions } from '../../src/simulator/options.ts'
import { createPlatformSimulator, type PlatformSimulator } from '../../src/simulator/simulator.ts'
import { type Door, inProcess } from './adapters.ts'
import { type Api, api, type Send } from './api.ts'
import { createReceiver, type Receiver } from './receiver.ts'

export interface TestSimulator {
  readonly sim: PlatformSimulator
  readonly hook: Receiver
}

export interface EvaluationContext extends TestSimulator {
  readonly api: Api
  /** A request as it is, to a path of the platform. */
  readonly send: Send
}

const withHook = (options: PlatformSimulatorOptions, hook: Receiver): PlatformSimulatorOptions => ({
  ...options,
  webhook: { ...options.webhook, fetch: hook.fetch },
})

/** Every payload must have been as the contract describes it. */
function putAway({ sim, hook }: TestSimulator): void {
  onTestFinished(async () => {
    await sim.close()
    expect(hook.problems).toEqual([])
  })
}

export function createTestSimulator(options: PlatformSimulatorOptions = {}): TestSimulator {
  const hook = createReceiver()
  const made = { sim: createPlatformSimulator(withHook(options, hook)), hook }
  putAway(made)
  return made
}

export async function setUp(
  door: Door = inProcess,
  options: PlatformSimulatorOptions = {},
): Promise<EvaluationContext> {
  const hook = createReceiver()
  const sim = await door.create(withHook(options, hook))
  putAway({ sim, hook })
  const send: Send = (path, init) => door.send(sim, path, init)
  return { sim, hook, send, api: api(sim, send) }
}
