/** The OpenAPI documents of both faces. */
import { platformOpenApi } from '../../../contract/openapi.ts'
import { OpenApiDocument } from '../response-schemas.ts'
import { defineRoute, ok, type Route } from '../route.ts'

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
