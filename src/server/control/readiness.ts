/** Defines the readiness behind `GET /_sim/readiness`: what each check of the certification showed so far. A layer above the server implements it. */
import * as z from 'zod/mini'
import type { InboxItem } from '../../evaluation/scenario/run-events.ts'
import { named } from '../../platform/contract/schemas.ts'
import { EntrySchema } from '../../platform/journal/entry.ts'
import type { PlatformSimulator } from '../../platform/simulator/simulator.ts'
import type { RequestRouter } from '../../platform/simulator/workspaces.ts'

const WireFinding = z.object({
  code: z.string(),
  level: z.enum(['MUST', 'SHOULD', 'INFO']),
  happened: z.string(),
  hint: z.string().check(z.describe('What to do about it')),
  entries: z.array(z.int()).check(z.describe('Seqs of the entries that show it')),
})

const ReadinessCheck = z
  .object({
    id: z.string(),
    title: z.string(),
    level: z.enum(['MUST', 'SHOULD', 'INFO']),
    profile: z.enum(['webhook', 'flow', 'resilience']),
    state: z.enum(['right', 'wrong', 'not_seen']),
    by: z.nullable(z.enum(['traffic', 'trial'])).check(z.describe('What showed it; null: nothing so far')),
    seq: z.nullable(z.int().check(z.describe('The entry that shows it; null after a trial'))),
    chat_id: z.nullable(z.string()),
    finding: z.nullable(WireFinding).check(z.describe('Why it is wrong')),
    delivery_id: z.nullable(z.string().check(z.describe('A refused delivery that can be diagnosed'))),
    note: z.nullable(z.string().check(z.describe('Why it was not seen in a trial'))),
    cannot_try: z.nullable(z.string().check(z.describe('Why the check cannot be tried here; null: it can'))),
  })
  .check(named('ReadinessCheck', 'A check of the certification, and what the traffic and the trials so far show of it'))

export const CheckFix = z
  .object({
    text: z.string().check(z.describe('How to fix what the check finds, in Markdown without the code')),
    code: z.record(z.string(), z.string()).check(z.describe('Examples by language: `js`, `python`, `php`, `csharp`')),
  })
  .check(named('CheckFix', 'How to fix what a check finds'))
export type CheckFix = z.infer<typeof CheckFix>

export const ReadinessReport = z
  .object({
    text: z.string().check(z.describe('`31 of 48 seen right, 2 wrong: SIG-07, DLV-01`')),
    right: z.int(),
    wrong: z.int(),
    not_seen: z.int(),
    checks: z.array(ReadinessCheck),
  })
  .check(named('Readiness', 'How far an intermediary is'))
export type ReadinessReport = z.infer<typeof ReadinessReport>
export type ReadinessCheck = z.infer<typeof ReadinessCheck>

export const ReadinessTrial = z
  .object({
    check: ReadinessCheck,
    outcome: z.enum(['pass', 'fail', 'warn', 'info', 'not_applicable', 'inconclusive', 'error', 'blocked']),
    reason: z.nullable(z.string().check(z.describe('Why it could not be observed'))),
    findings: z.array(WireFinding),
    duration_ms: z.number(),
    entries: z.array(EntrySchema).check(z.describe('The journal of the trial, which has a simulator of its own')),
    chats: z.record(z.string(), z.string()).check(z.describe('Chat ids by name')),
  })
  .check(named('ReadinessTrial', 'One run of a check against the webhook'))
export type ReadinessTrial = z.infer<typeof ReadinessTrial>

export const PlayBody = z
  .strictObject({
    yaml: z.optional(z.string().check(z.minLength(1), z.describe('The text of a scenario file'))),
    scenario: z.optional(z.record(z.string(), z.unknown()).check(z.describe('A scenario as JSON'))),
    builtin: z.optional(
      z.string().check(z.minLength(1), z.describe('The name of a shipped scenario: `happy-path.yaml`')),
    ),
    agent_driver: z.optional(
      z
        .record(z.string(), z.unknown())
        .check(z.describe('An agent driver as JSON that calls a help desk by HTTP. Default: that of the server')),
    ),
    repeat: z.optional(
      z.int().check(z.positive(), z.maximum(10_000), z.describe('How often, one after the other. Ends with a failure')),
    ),
    seed: z.optional(z.int().check(z.nonnegative(), z.describe('Same seed: same ids and texts. Default: a fresh one'))),
    timeout: z.optional(
      z.string().check(z.describe('The longest time of all, such as `2m`. What is not done then is inconclusive')),
    ),
    journal: z.optional(
      z.enum(['always', 'failures', 'never']).check(z.describe('When the answer has the entries. Default: failures')),
    ),
  })
  .check(named('Play', 'A scenario to run: one of `yaml`, `scenario` and `builtin`'))
export type PlayBody = z.infer<typeof PlayBody>

const times = z.array(z.number())

const PlayedFailure = z.object({
  code: z.string().check(z.describe('The code of what happened')),
  step: z.nullable(z.int().check(z.describe('The number of the step'))),
  line: z.nullable(z.int().check(z.describe('Of the step in the text'))),
  expected: z.string(),
  happened: z.string(),
  hint: z.nullable(z.string()),
})

export const PlayedScenario = z
  .object({
    name: z.string(),
    outcome: z.enum(['pass', 'fail', 'error', 'inconclusive', 'skipped']),
    reason: z.nullable(z.string().check(z.describe('Why it was not decided'))),
    failures: z.array(PlayedFailure),
    counts: z.record(z.string(), z.int()).check(z.describe('Runs by their outcome')),
    seed: z.int(),
    timings: z
      .object({ ack: times, user_to_agent: times, agent_to_user: times, accept_to_start: times })
      .check(z.describe('In milliseconds, of all runs')),
    duration_ms: z.number(),
    journal: z
      .object({ first_seq: z.nullable(z.int()), last_seq: z.nullable(z.int()) })
      .check(z.describe('The range of entries of the last run, which has a simulator and a journal of its own')),
    entries: z.array(EntrySchema).check(z.describe('The journal of the last run')),
    chats: z.record(z.string(), z.string()).check(z.describe('Chat ids by name')),
  })
  .check(named('PlayedScenario', 'One run of a scenario against the webhook'))
export type PlayedScenario = z.infer<typeof PlayedScenario>

export interface Readiness {
  /** Judges what happened since the last call. */
  report(): ReadinessReport
  /** A function that returns the checks that have changed since its last call, as text of a stream of events; all at first. */
  changes(): () => string
  /** The agent looked at a chat, which the journal does not have. */
  inboxRead(chatId: string, items: readonly InboxItem[]): void
  /** Runs the check beside the simulator, against its webhook. Throws `ControlProblem`. */
  tryCheck(id: string, signal: AbortSignal): Promise<ReadinessTrial>
  /** Reads the help page of a check. Throws `ControlProblem`. */
  fix(id: string): CheckFix
  /** Runs a scenario beside the simulator, against its webhook. Throws `ControlProblem`. */
  play(wanted: PlayBody, signal: AbortSignal): Promise<PlayedScenario>
}

/** A server whose platform calls can be routed to further simulators. */
export interface ReadinessServer {
  readonly simulator: PlatformSimulator
  routeCalls(router: RequestRouter): void
}

export type LoadReadiness = (server: ReadinessServer) => Promise<Readiness>
