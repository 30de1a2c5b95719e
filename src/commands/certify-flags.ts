/** Defines and checks the flags of `certify`. */

import { parseDuration } from '../base/text/quantities.ts'
import { PROFILES, type Profile } from '../running/certifier/check.ts'
import { createLimits, type Limits } from '../running/certifier/context.ts'
import { type FlagsOf, SETTING_FLAGS } from './command.ts'
import { type Context, UsageError } from './io.ts'
import { countFrom, timeLimitFrom, waitFrom } from './run-flags.ts'

export const CERTIFY_FLAGS = {
  '--target <url>': 'the webhook of the intermediary (default: webhook.url of the config file)',
  '--agent-driver <file>': 'agent driver file; without it, only the profile webhook is checked',
  '--profile <profiles>': 'webhook, flow, resilience; with commas (default: all that the driver allows)',
  '--only <id>': {
    description: 'checks whose id begins with this, such as SIG-07 or SIG; may be repeated',
    repeatable: true,
  },
  '--skip <id>': { description: 'leave out checks whose id begins with this; may be repeated', repeatable: true },
  '--jobs <number>': 'how many checks run at once (default: 8)',
  '--capabilities <file>': 'what the intermediary does not have, as YAML or JSON; those checks do not apply',
  '--expected-failures <file>': 'checks that are known to fail, as YAML or JSON; they do not fail the run',
  '--bail <number>': 'start no further check after so many have failed',
  '--timeout <duration>': 'stop the run after this long (default: 5m); the report says what was not checked',
  '--ack-limit <duration>': 'how long an acknowledgement may take (default: 5s)',
  '--observe <duration>': 'how long nothing may happen after an event that must have no effect (default: 2s)',
  '--within <duration>': 'how long an effect of an event or of the agent may take (default: 5s)',
  '--strict': 'treat warnings as failures, and inconclusive checks as exit code 4',
  '--no-rotate-unspecified': 'do not vary what the platform leaves open',
  '--report <reports>': {
    description: 'pretty, tap, github, json=F, junit=F, markdown=F, badge=F; with commas',
    repeatable: true,
  },
  '--wait-for-target <duration>': 'how long to wait for the intermediary (default: 0s; 30s under CI)',
  '--list': 'print the checks: what each sends, observes and demands; checks nothing',
  '--json': 'with --list: one line of JSON for each check',
  '--dry-run': 'print which checks would run; checks nothing',
  '--explain <id>': 'print the help page of a check: what it means, and how to fix what it finds',
  '--self-test': 'certify the built-in reference intermediary',
  '--allow-remote': 'the target may be on another machine',
  ...SETTING_FLAGS,
  '--webhook-url <url>': { description: 'alias of --target', hidden: true },
  '--seed <number>': 'same seed: same ids, texts and variations (default: a fresh one, named in the report)',
} as const

export type CertifyFlags = FlagsOf<typeof CERTIFY_FLAGS>

export interface CertifyRunOptions {
  /** Null: all that the driver allows. */
  readonly profiles: readonly Profile[] | null
  readonly only: readonly string[]
  readonly skip: readonly string[]
  readonly jobs: number
  readonly bail: number | null
  readonly timeoutMs: number
  readonly limits: Limits
  readonly waitMs: number
}

const DEFAULT_TIMEOUT_MS = 300_000

export function parseCertifyFlags(flags: CertifyFlags, { env }: Context): CertifyRunOptions {
  if (flags.json && !flags.list) throw new UsageError('--json goes with --list. The report as JSON: --report json.')
  return {
    profiles: flags.profile === undefined ? null : profilesFrom(flags.profile),
    only: flags.only ?? [],
    skip: flags.skip ?? [],
    jobs: countFrom('--jobs', flags.jobs, 8),
    bail: flags.bail === undefined ? null : countFrom('--bail', flags.bail, 1),
    timeoutMs: timeLimitFrom(flags.timeout) ?? DEFAULT_TIMEOUT_MS,
    limits: createLimits({
      ackMs: durationFrom('--ack-limit', flags.ackLimit),
      effectMs: durationFrom('--within', flags.within),
      quietMs: durationFrom('--observe', flags.observe),
    }),
    waitMs: waitFrom(flags.waitForTarget, env.CI !== undefined && env.CI !== '' && env.CI !== 'false'),
  }
}

function profilesFrom(text: string): Profile[] {
  const names = text.split(',').map(name => name.trim())
  const unknown = names.find(name => !PROFILES.some(profile => profile === name))
  if (unknown !== undefined)
    throw new UsageError(
      `--profile must be ${PROFILES.join(', ')}, or several with commas, got ${JSON.stringify(unknown)}.`,
    )
  return PROFILES.filter(profile => names.includes(profile))
}

function durationFrom(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== null && ms > 0) return ms
  throw new UsageError(`${flag} must be a duration with a unit such as 5s, got ${JSON.stringify(text)}.`)
}
