/** The adapters of the contract: in-process, over HTTP, msw 2 and 3, and the interceptors. */

import { setupServer as setup2 } from 'msw/node'
import { onTestFinished } from 'vitest'
import { startSimulator } from '../../src/index.ts'
import { intercept } from '../../src/testing/interceptors/interceptors.ts'
import { handlers } from '../../src/testing/msw.ts'
import { type Adapter, atOwnAddress, byFetch, mswAdapter } from './msw-adapter.ts'
import { inProcess } from './test-simulator.ts'

/** A real server on a free port, with a virtual clock. */
const overHttp: Adapter = {
  name: 'over HTTP',
  create: options => startSimulator({ clock: 'virtual', ...options, port: 0 }),
  send: byFetch,
}

const throughMsw2 = mswAdapter(
  'msw 2',
  'Failed to fetch',
  () => {
    const server = setup2()
    server.listen({ onUnhandledRequest: 'error' })
    return server
  },
  handlers,
)

const throughInterceptors: Adapter = {
  name: 'interceptors',
  async create(options) {
    const sim = atOwnAddress(options)
    const interception = intercept(sim)
    onTestFinished(() => interception.stop())
    return sim
  },
  send: byFetch,
}

/** The built `handover-sim/msw` uses the msw that is installed, which is version 2 here. */
const sourceAdapters = process.env.HANDOVER_SIM_TEST === 'dist' ? [] : [(await import('./msw3.source.ts')).throughMsw3]
export const ADAPTERS: readonly Adapter[] = [inProcess, overHttp, throughMsw2, ...sourceAdapters, throughInterceptors]
