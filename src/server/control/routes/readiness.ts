/** Says how far the intermediary is: what traffic and trials show about each check of the certification. */
import { ControlProblem } from '../problems.ts'
import type { Readiness } from '../readiness.ts'
import { ReadinessReport, ReadinessTrial } from '../readiness.ts'
import { type ControlContext, type ControlRoute, ok, routesOf } from '../route.ts'

const route = routesOf('journal')

const NONE = 'The program that runs this server judges no checks, or this is a workspace'

async function readinessOf({ readiness }: ControlContext): Promise<Readiness> {
  const loaded = readiness()
  if (loaded === null) throw new ControlProblem(409, 'no_readiness', `${NONE}.`)
  return loaded
}

export const READINESS_ROUTES: readonly ControlRoute[] = [
  route('GET /readiness', {
    id: 'getReadiness',
    summary: 'Says which checks of the certification were seen right, seen wrong, or not seen yet',
    description:
      'The traffic so far is judged by the functions of the checks; the latest that shows something about a check decides.',
    responses: { 200: { description: 'All checks', schema: ReadinessReport }, 409: NONE },
    run: async context => ok((await readinessOf(context)).report()),
  }),
  route('POST /readiness/:id/try', {
    id: 'tryCheck',
    summary: 'Runs one check against the webhook, beside the simulator, whose chats and journal stay as they are',
    responses: {
      200: { description: 'The result, with the journal of the trial', schema: ReadinessTrial },
      404: 'There is no such check',
      409: 'There is no webhook or no agent driver for it, or another check is being tried',
    },
    run: async context => ok(await (await readinessOf(context)).tryCheck(context.param('id'), context.signal)),
  }),
]
