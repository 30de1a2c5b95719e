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
    summary: 'Reports that the process responds',
    open: true,
    responses: { 200: { description: 'It responds', schema: HealthResponse } },
    run: () => ok({ status: 'live', version: VERSION }),
  }),
  defineRoute({
    id: 'readyz',
    group: 'health',
    method: 'GET',
    path: '/readyz',
    summary: 'Reports whether the server accepts requests',
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
    summary: 'Describes this API',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    async run({ url }) {
      // Loaded when needed: the document is generated from the table that contains this route.
      const { controlOpenApi } = await import('../openapi.ts')
      return ok(controlOpenApi({ url }))
    },
  }),
  defineRoute({
    id: 'platformOpenApi',
    group: 'documents',
    method: 'GET',
    path: '/platform-openapi.json',
    summary: 'Describes the nine endpoints of the platform and its webhooks',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenApiResponse } },
    run: ({ simulator }) => ok(platformOpenApi({ baseUrl: simulator.baseUrl })),
  }),
]
