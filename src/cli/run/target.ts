/** Where the intermediary is: from the flag or the config file, on this machine unless told otherwise. */
import { isLoopback } from '../../server/addresses.ts'
import { UsageError } from '../errors.ts'
import type { RunFlags } from './flags.ts'

export function targetFrom(flags: RunFlags, configured: string | null): URL {
  const from = flags.target === undefined ? 'webhook.url' : '--target'
  const text = flags.target ?? configured
  if (text === null) {
    throw new UsageError(
      'There is nobody to play against: name the webhook of your intermediary with --target http://127.0.0.1:3000/webhook, or try --self-test.',
    )
  }
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `${from} must be an http or https URL such as http://127.0.0.1:3000/webhook, got ${JSON.stringify(text)}.`,
    )
  }
  if (flags.allowRemote || isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) return url
  throw new UsageError(
    `${from} ${text} is on another machine. Scenarios write as users and agents there; if that is wanted, add --allow-remote.`,
  )
}
