/** The ways into the platform: the same tests run through each of them. */
import { describe } from 'vitest'
import { startSimulator } from '../../src/server/start.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { createSimulator, type Simulator } from '../../src/simulator.ts'

export interface Door {
  readonly name: string
  create(options: SimulatorOptions): Promise<Simulator>
  /** Sends a request to a path of the platform. */
  send(sim: Simulator, path: string, init?: RequestInit): Promise<Response>
}

export const inProcess: Door = {
  name: 'in-process',
  create: async options => createSimulator(options),
  send: (sim, path, init) => sim.fetch(new Request(sim.baseUrl + path, init)),
}

/** A real server on a free port, with the clock that tests move. */
const overHttp: Door = {
  name: 'over HTTP',
  create: options => startSimulator({ clock: 'virtual', ...options, port: 0 }),
  send: (sim, path, init) => fetch(sim.baseUrl + path, { redirect: 'manual', ...init }),
}

const DOORS: readonly Door[] = [inProcess, overHttp]

/** Runs the same tests through every door. */
export function describeDoors(name: string, body: (door: Door) => void): void {
  for (const door of DOORS) describe(`${name} (${door.name})`, () => body(door))
}
