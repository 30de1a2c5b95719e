/** Reports that the server runs and accepts requests, and serves the OpenAPI documents. */

import { platformOpenApi } from '../../../contract/openapi.ts'
import { VERSION } from '../../../contract/version.ts'
import { Health, OpenApiDocument } from '../response-schemas.ts'
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

export const DOCUMENT_ROUTES: readonly Route[] = [
  defineRoute({
    id: 'controlOpenApi',
    group: 'documents',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This API',
    answers: { 200: { description: 'OpenAPI 3.1', schema: OpenApiDocument } },
    async run({ url }) {
      // The document is made from the table this row is part of.
      const { controlOpenApi } = await import('../openapi.ts')
      return ok(controlOpenApi({ url }))
    },
  }),
  defineRoute({
    id: 'platformOpenApi',
    group: 'documents',
    method: 'GET',
    path: '/platform-openapi.json',
    summary: 'The nine endpoints of the platform, and its webhooks',
    answers: { 200: { description: 'OpenAPI 3.1', schema: OpenApiDocument } },
    run: ({ simulator }) => ok(platformOpenApi({ baseUrl: simulator.baseUrl })),
  }),
]
