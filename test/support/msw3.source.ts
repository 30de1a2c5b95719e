/** Runs the tests of the adapters through msw 3, which only the sources can use beside msw 2. */
import * as msw3 from 'msw3'
import { setupServer as setup3 } from 'msw3/node'
import { createHandlers } from '../../src/testing/msw-handlers.ts'
import { mswAdapter } from './msw-adapter.ts'

export const throughMsw3 = mswAdapter(
  'msw 3',
  'fetch failed',
  () => {
    const server = setup3()
    server.listen({ onUnhandledFrame: 'error' })
    return server
  },
  sim => createHandlers<msw3.HttpHandler>(msw3.http, sim),
)
