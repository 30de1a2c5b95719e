/** Shows and changes the configuration and the availability, as a person does in the workspace. */
import * as z from 'zod/mini'
import { isoMicros, nextMacrotask } from '../../../base/runtime/clock.ts'
import { tierOf } from '../../../platform/contract/assumptions.ts'
import { AnyFields, AvailabilityReason, AvailabilityValue, named } from '../../../platform/contract/schemas.ts'
import { VERSION } from '../../../platform/contract/version.ts'
import { DEFAULT_QUEUE, isOpen } from '../../../platform/rules/availability.ts'
import {
  type BusinessHours,
  nextChange,
  readBusinessHours,
  withinHours,
} from '../../../platform/rules/business-hours.ts'
import { botById } from '../../../platform/rules/chats.ts'
import type { BotState } from '../../../platform/rules/state.ts'
import { chatSummary } from '../../../platform/rules/transcript.ts'
import type { Core } from '../../../platform/simulator/core.ts'
import { configure, effectiveConfig } from '../../../platform/simulator/settings.ts'
import { readMoment } from '../problems.ts'
import {
  type ControlRequest,
  type ControlRoute,
  MomentQuery,
  NonEmptyText,
  ok,
  type ProxyDescription,
  routesOf,
} from '../route.ts'
import { ChatSummary, MOMENT_DROPPED, wireSummary } from './chats.ts'
import { clock, clockNow } from './simulator.ts'

/** A record, with every key: `z.record` drops `__proto__`, which `configure` refuses as it refuses any unknown name. */
const ConfigBody = AnyFields.check(
  named('ConfigPatch', 'Knobs and settings by dotted name, each value as in the config file'),
)

const SetAvailabilityBody = z
  .strictObject({
    availability: AvailabilityValue,
    queue: z.optional(NonEmptyText),
    reason: z.optional(AvailabilityReason),
  })
  .check(named('AvailabilityChange', 'As if set in the workspace'))

const ConfigResponse = z
  .record(z.string(), z.unknown())
  .check(named('Config', 'The effective settings by name; keys are masked'))

const QueueResponse = z
  .object({
    bot_id: z.int(),
    queue: z.string(),
    availability: AvailabilityValue,
    reason: z.nullable(AvailabilityReason),
    updated_at: z.nullable(z.string()),
    open: z.boolean(),
  })
  .check(named('Availability', '`open` also depends on the business hours'))

const HoursResponse = z
  .nullable(
    z.object({
      open: z.boolean().check(z.describe('Whether it is within the hours')),
      next_change: z.nullable(z.string()).check(z.describe('When this changes; null when it stays the same')),
    }),
  )
  .check(z.describe('Where the clock is in `business_hours` of the config; null without hours'))

const StateResponse = z
  .object({
    version: z.string(),
    config: ConfigResponse,
    clock,
    proxy: z
      .nullable(z.object({ upstream: z.string(), webhook_url: z.string(), since: z.string(), file: z.string() }))
      .check(z.describe('What `npx handover-sim proxy` records; null for a simulator')),
    availability: z.array(QueueResponse),
    business_hours: HoursResponse,
    chats: z.array(ChatSummary),
    journal: z.object({
      first_seq: z.int(),
      next_seq: z.int(),
      instance: z.string().check(z.describe('Another one after a restart, a reset or a restored snapshot')),
    }),
  })
  .check(named('State', 'Effective config, availability and chats'))

export type SimulatorState = z.infer<typeof StateResponse>

const AssumptionClass = z
  .enum(['ordinary', 'provoked', 'never'])
  .check(z.describe('Which traffic of the platform shows it'))
const AssumptionTier = z.enum(['described', 'documented', 'seen', 'assumed']).check(z.describe('What it rests on'))

const AssumptionsResponse = z
  .object({
    assumptions: z.array(
      z.object({
        name: z.string(),
        rule: z.string(),
        open: z.string(),
        behaviour: z.string(),
        class: AssumptionClass,
        tier: AssumptionTier,
        evidence: z.nullable(
          z
            .object({ value: z.optional(z.unknown()), count: z.int(), date: z.string(), file: z.string() })
            .check(z.describe('What recorded traffic shows (`evidence` of the config file)')),
        ),
        knobs: z.array(z.object({ name: z.string(), value: z.unknown(), allowed: z.string() })),
      }),
    ),
  })
  .check(
    named(
      'Assumptions',
      'What the platform leaves open, what the simulator does instead, and the knobs that change it',
    ),
  )

const Place = z.object({ file: z.string(), entry: z.int().check(z.describe('`seq` of the journal')) })
const EvidenceVerdict = z.enum(['confirmed', 'contradicted', 'changed', 'not seen'])

const CalibrationResponse = z
  .object({
    calls: z.int(),
    events: z.int(),
    from: z.nullable(z.string()),
    to: z.nullable(z.string()),
    left_out: z.record(z.string(), z.int()),
    fits: z.boolean(),
    assumptions: z.array(
      z.object({
        name: z.string(),
        class: AssumptionClass,
        tier: AssumptionTier,
        status: EvidenceVerdict,
        behaviours: z.array(
          z.object({
            name: z.string().check(z.describe('A knob, or the assumption without one')),
            status: EvidenceVerdict,
            in_force: z.unknown(),
            fits: z.optional(z.unknown()).check(z.describe('The value that fits; absent when none is known')),
            count: z.int(),
            first: z.nullable(Place),
            last: z.nullable(Place),
            places: z.array(Place).check(z.describe('The first entries')),
            changes: z.array(z.object({ from: Place, to: Place })),
          }),
        ),
      }),
    ),
    findings: z.array(
      z.object({ kind: z.string(), what: z.string(), count: z.int(), place: Place, example: z.string() }),
    ),
  })
  .check(named('Calibration', 'What the journal shows about the platform'))

export type CalibrationResponse = z.infer<typeof CalibrationResponse>

/** After so many entries, traffic passes before the comparison goes on. */
const ENTRIES_AT_ONCE = 200

async function calibrateJournal({ journal, platform, evidence }: Core, proxy: ProxyDescription | null) {
  const { Calibration, calibrationData } = await import('../../../evaluation/calibration/calibration.ts')
  const { observationsOfEntry } = await import('../../../evaluation/calibration/observation.ts')
  const { knobs } = platform
  const calibration = new Calibration(knobs)
  for (const [index, entry] of journal.query().entries()) {
    if (index % ENTRIES_AT_ONCE === 0) await nextMacrotask()
    const observed = observationsOfEntry(entry, proxy?.file ?? 'journal')
    if (typeof observed === 'string') calibration.leaveOut(observed)
    else for (const observation of observed) calibration.observe(observation)
  }
  // What a simulator did is no evidence for the platform.
  return calibrationData(calibration.result(), ({ name, status }) =>
    proxy !== null && status === 'confirmed' ? 'seen' : tierOf(name, evidence, knobs),
  )
}

const platformNow = (core: Core) => ({
  config: effectiveConfig(core),
  clock: clockNow(core),
  availability: [...core.platform.state.bots.values()].flatMap(bot => {
    const names = new Set([DEFAULT_QUEUE, ...bot.queues.keys()])
    return [...names].map(name => describeAvailability(core, bot, name))
  }),
  business_hours: describeHours(core.platform.settings.businessHours, core.clock.wallMs()),
})

function describeHours(hours: BusinessHours | null, atMs: number) {
  if (hours === null) return null
  const changesMs = nextChange(hours, atMs)
  return { open: withinHours(hours, atMs), next_change: changesMs === null ? null : isoMicros(changesMs * 1000) }
}

/** Undoes the changes after the entry `seq`, newest first: their notes say what was there before. */
function platformAt(core: Core, seq: number): ReturnType<typeof platformNow> {
  const { config, clock, availability } = platformNow(core)
  const queues = availability.map(queue => ({ ...queue }))
  for (const { note, ...change } of core.journal.query({ kind: 'note', after: seq }).reverse()) {
    if (note === 'config') Object.assign(config, change.previous)
    else if (note === 'clock_paused') clock.paused = false
    else if (note === 'clock_resumed') clock.paused = true
    else if (note === 'availability') {
      const changed = queues.find(({ bot_id, queue }) => bot_id === change.bot_id && queue === change.queue)
      if (changed !== undefined) Object.assign(changed, change.previous)
    }
  }
  const nowMs = timeAfter(core, seq)
  const read = config.business_hours === null ? null : readBusinessHours(config.business_hours)
  const business_hours = describeHours(read === null || 'problems' in read ? null : read, nowMs)
  const initial = config['availability.initial'] === 'CLOSED' ? 'CLOSED' : 'OPEN'
  for (const queue of queues) if (queue.updated_at === null) queue.availability = initial
  for (const queue of queues) {
    const main = queues.find(candidate => candidate.bot_id === queue.bot_id && candidate.queue === DEFAULT_QUEUE)
    queue.open = main?.availability === 'OPEN' && business_hours?.open !== false
  }
  const isListed = ({ queue, updated_at }: (typeof queues)[number]) => queue === DEFAULT_QUEUE || updated_at !== null
  return {
    config,
    clock: { ...clock, now: isoMicros(nowMs * 1000), next_due: null },
    availability: queues.filter(isListed),
    business_hours,
  }
}

/** The time of the clock after the entry `seq`: that of the entry, or the end of an advance that caused no later entry. */
function timeAfter({ journal, clock }: Core, seq: number): number {
  const entry = journal.find(seq) ?? journal.query({ limit: 1 })[0]
  const timeMs = entry === undefined ? clock.wallMs() : Date.parse(entry.time)
  const next = journal.find(seq + 1)
  const advance = journal
    .query({ kind: 'note' })
    .findLast(({ note, seq: at }) => note === 'clock_advanced' && at <= seq)
  const advancedMs = typeof advance?.to === 'string' ? Date.parse(advance.to) : 0
  const isBefore = next !== undefined && Date.parse(next.time) < advancedMs
  return advancedMs > timeMs && !isBefore ? advancedMs : timeMs
}

const route = routesOf('workspace')

const REFUSED = 'A name or value is not allowed; lists what is allowed. Nothing was changed'

/** Before its first update a queue has the value of the knob `availability.initial`. */
function describeAvailability({ platform }: Core, bot: BotState, name = DEFAULT_QUEUE) {
  const queue = bot.queues.get(name)
  return {
    bot_id: bot.id,
    queue: name,
    availability: queue?.availability ?? platform.knobs['availability.initial'],
    reason: queue?.reason ?? null,
    updated_at: queue && queue.updated !== null ? isoMicros(queue.updated) : null,
    open: isOpen(platform, bot),
  }
}

export const WORKSPACE_ROUTES: readonly ControlRoute[] = [
  route('GET /state', {
    id: 'getState',
    summary: 'Shows the effective config, the availability and the chats, now or at an earlier moment',
    query: MomentQuery,
    responses: { 200: { description: 'The state', schema: StateResponse }, 410: MOMENT_DROPPED },
    run({ core, query, proxy }: ControlRequest<MomentQuery, unknown>) {
      const seq = readMoment(core, query)
      const chats = [...core.platform.state.chats.values()]
      const chatsThen = seq === null ? chats : chats.flatMap(chat => core.moments.chatAt(chat, seq) ?? [])
      return ok({
        version: VERSION,
        ...(seq === null ? platformNow(core) : platformAt(core, seq)),
        proxy,
        chats: chatsThen.map(chat => wireSummary(chatSummary(chat))),
        journal: {
          first_seq: core.journal.firstSeq,
          next_seq: core.journal.nextSeq,
          instance: core.numbering.instance(),
        },
      })
    },
  }),
  route('GET /config', {
    id: 'getConfig',
    summary: 'Shows the effective config',
    responses: { 200: { description: 'By name', schema: ConfigResponse } },
    run: ({ simulator }) => ok(simulator.config()),
  }),
  route('PATCH /config', {
    id: 'patchConfig',
    summary: 'Changes knobs and settings, all or none',
    body: ConfigBody,
    example: { 'typing.webhook': 'off', 'webhook.url': 'http://127.0.0.1:3000/webhook' },
    responses: { 200: { description: 'The effective config', schema: ConfigResponse }, 422: REFUSED },
    async run({ core, body }) {
      await configure(core, body, 'data')
      return ok(effectiveConfig(core))
    },
  }),
  route('PUT /availability', {
    id: 'setAvailability',
    summary: 'Opens or closes handover, as if set in the workspace',
    body: SetAvailabilityBody,
    example: { availability: 'CLOSED', reason: 'BUSINESS_HOURS' },
    responses: { 200: { description: 'The availability after the change', schema: QueueResponse }, 422: REFUSED },
    run({ core, simulator, body }) {
      simulator.setAvailability(body)
      return ok(describeAvailability(core, botById(core.platform, core.identity.bot.id), body.queue))
    },
  }),
  route('GET /assumptions', {
    id: 'listAssumptions',
    summary: 'Lists every default that the platform does not state, with its knobs and their values',
    responses: { 200: { description: 'Each by its name, with the effective values', schema: AssumptionsResponse } },
    run: ({ simulator }) => ok({ assumptions: simulator.assumptions() }),
  }),
  route('GET /calibration', {
    id: 'getCalibration',
    summary: 'Compares the journal with the assumptions in force, as `npx handover-sim calibrate` compares recordings',
    responses: { 200: { description: 'The verdict on each assumption', schema: CalibrationResponse } },
    run: async ({ core, proxy }) => ok(await calibrateJournal(core, proxy)),
  }),
]
