/** Decides from the codes of an entry whether it shows that something went wrong. */

import type { Entry, EntryOf } from '../../platform/journal/entry.ts'
import { WAIT_UNTIL_FAILED } from '../../platform/journal/journal.ts'
import { isAcceptedForgery, isRefusedForgery, isTruncated, observedSignature } from '../../platform/wording/hints.ts'

/**
 * failed: a refused call, an event that was not acknowledged although there is a webhook, an invalid signature that was
 * accepted, a problem of the simulator. finding: an accepted call that breaks a rule. ordered: what a fault of the user did.
 */
export type EntryProblem = 'failed' | 'finding' | 'ordered'

export function problemIn(entry: Entry): EntryProblem | null {
  switch (entry.kind) {
    case 'api': {
      const { status, faults, findings, unspecified, answer_lost } = entry
      const isRefused = status >= 400 || status === 0 || answer_lost !== undefined
      // Refusals of the platform always name assumptions, so a fault gave the others.
      const isOfPlatform = status >= 400 && Object.keys(unspecified).length > 0
      if (isRefused && (faults === undefined || isOfPlatform)) return 'failed'
      if (findings.length > 0) return 'finding'
      return isRefused ? 'ordered' : null
    }
    case 'delivery': {
      const { probe, outcome, status, failure, faults } = entry
      if (probe !== undefined || isRefusedForgery(entry)) return null
      if (isAcceptedForgery(entry) || isSignedWrong(entry)) return 'failed'
      if (outcome === 'delivered' || failure?.code === 'no_url') return null
      if (isTruncated(entry) && (status ?? 0) >= 400) return null
      return faults === undefined ? 'failed' : 'ordered'
    }
    case 'fault':
      return 'ordered'
    case 'note':
      return PROBLEM_NOTES.has(entry.note) ? 'failed' : null
    case 'driver':
      return entry.failure === undefined ? null : 'failed'
    default:
      return null
  }
}

/** A delivery of the real platform, whose signature does not fit the key that the proxy was given. */
export const isSignedWrong = (entry: EntryOf<'delivery'>): boolean => observedSignature(entry)?.status === 'invalid'

const PROBLEM_NOTES: ReadonlySet<string> = new Set([
  ...['evicted', 'connections_refused', 'http2_refused', 'internal_error', WAIT_UNTIL_FAILED],
  ...['proxy_call_failed', 'proxy_silent', 'proxy_link_leaves'],
])
