/** Reports that the server runs and accepts requests, and serves the OpenAPI documents. */

import { platformOpenApi } from '../../../contract/openapi.ts'
import { VERSION } from '../../../contract/version.ts'
import { HealthResponse, OpenApiResponse } from '../response-schemas.ts'
import { type ControlRoute, defineRoute, ok } from '../route.ts'

export const HEALTH_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'livez',
    group: 'health',
    method: 'GET',
    path: '/livez',
    summary: 'Whether the process answers',
    open: true,
    responses: { 200: { description: 'It does', schema: HealthResponse } },
    run: () => ok({ status: 'live', version: VERSION }),
  }),
  defineRoute({
    id: 'readyz',
    group: 'health',
    method: 'GET',
    path: '/readyz',
    summary: 'Whether it takes requests',
    open: true,
    responses: {
      200: { description: 'Ready', schema: HealthResponse },
      503: { description: 'Closing', schema: HealthResponse },
    },
    run: ({ closing }) =>
      closing.aborted
        ? { status: 503, body: { status: 'closing', version: VERSION } }
        : ok({ status: 'ready', version: VERSION }),
  }),
]

export const DOCUMENT_ROUTES: readonly ControlRoute[] = [
  defineRoute({
    id: 'controlOpenApi',
    group: 'documents',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This API',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
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
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    run: ({ simulator }) => ok(platformOpenApi({ baseUrl: simulator.baseUrl })),
  }),
]
