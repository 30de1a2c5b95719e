/** Is it there, and does it take requests. */
import { VERSION } from '../../../contract/version.ts'
import { Health } from '../response-schemas.ts'
import { defineRoute, ok, type Route } from '../route.ts'

export const HEALTH_ROUTES: readonly Route[] = [
  defineRoute({
    id: 'livez',
    group: 'health',
    method: 'GET',
    path: '/livez',
    summary: 'Whether the process answers',
    open: true,
    answers: { 200: { description: 'It does', schema: Health } },
    run: () => ok({ status: 'live', version: VERSION }),
  }),
  defineRoute({
    id: 'readyz',
    group: 'health',
    method: 'GET',
    path: '/readyz',
    summary: 'Whether it takes requests',
    open: true,
    answers: {
      200: { description: 'Ready', schema: Health },
      503: { description: 'Closing', schema: Health },
    },
    run: ({ closing }) =>
      closing.aborted
        ? { status: 503, body: { status: 'closing', version: VERSION } }
        : ok({ status: 'ready', version: VERSION }),
  }),
]
