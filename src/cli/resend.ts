/** Sends a past delivery of a running simulator again (`handover-sim resend`). */
import type { Command } from 'commander'
import { UsageError } from './errors.ts'
import type { Context } from './io.ts'
import {
  addFaultFlag,
  addManualEventFlags,
  faultText,
  type ManualEventFlags,
  readFaults,
  sendManualEvent,
} from './manual-events.ts'

interface ResendFlags extends ManualEventFlags {
  readonly reSign?: boolean
  readonly fault?: readonly string[]
}

export function define(command: Command): void {
  command
    .argument('<id>', 'its delivery_id')
    .option('--re-sign', 'make the headers anew, signed with the key of now (default: exactly those of then)')
  addFaultFlag(command)
  addManualEventFlags(command)
}

export async function run(context: Context, flags: ResendFlags, [id = '']: readonly string[]): Promise<number> {
  if (id === '') throw new UsageError('ID: must not be empty.')
  const path = `/deliveries/${encodeURIComponent(id)}/resend${flags.reSign ? '?resign=true' : ''}`
  const details = faultText(flags.fault)
  const what = details === '' ? 'resent,' : `resent (${details}),`
  return sendManualEvent(context, flags, { path, body: readFaults(flags.fault), what })
}
