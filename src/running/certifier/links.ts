/** Opens the links of the attachments that an agent sees. */
import { type HttpTransport, httpTransport, sendWith } from '../../base/runtime/transport.ts'
import type { InboxItem } from '../../evaluation/scenario/run-events.ts'
import { isLoopback } from '../../server/control/addresses.ts'
import type { CheckContext } from './context.ts'

type Attachment = NonNullable<InboxItem['attachments']>[number]

export interface BrokenLink {
  readonly name: string
  /** Empty when the attachment has none. */
  readonly url: string
  /** Null when nothing answered, or the link is no address. */
  readonly status: number | null
}

export interface ObservedLinks {
  readonly broken: readonly BrokenLink[]
  /** Names of attachments without a link to open: the driver returns none, or one relative to a page that is not known. */
  readonly unobserved: readonly string[]
}

/**
 * Opens links to this machine, and reports those that are no address or do not answer 2xx. A driver may return names only;
 * a link that is missing while others have one is broken.
 */
export async function observeLinks(check: CheckContext, attachments: readonly Attachment[]): Promise<ObservedLinks> {
  const hasLinks = attachments.some(({ url }) => url !== undefined)
  const isUnobserved = ({ url }: Attachment) => (url === undefined ? !hasLinks : isRelative(url))
  const unobserved = attachments.filter(isUnobserved).map(({ name = 'an attachment' }) => name)
  const given = attachments.filter(attachment => !isUnobserved(attachment))
  return { broken: await brokenLinks(check, given), unobserved }
}

/** Begins with a path: an address would have a scheme. */
const isRelative = (url: string): boolean => /^\.{0,2}\//.test(url)

async function brokenLinks(check: CheckContext, attachments: readonly Attachment[]): Promise<BrokenLink[]> {
  const transport = httpTransport()
  try {
    const opened = await Promise.all(attachments.map(attachment => openLink(check, transport, attachment)))
    return opened.flatMap(({ link, works }) => (works ? [] : [link]))
  } finally {
    await transport.close()
  }
}

interface OpenedLink {
  readonly link: BrokenLink
  readonly works: boolean
}

async function openLink(check: CheckContext, transport: HttpTransport, file: Attachment): Promise<OpenedLink> {
  const { name = '', url = '' } = file
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    return { link: { name, url, status: null }, works: false }
  if (!check.hasWire || !isLoopback(new URL(url).hostname)) return { link: { name, url, status: null }, works: true }
  const status = await statusOf(check, transport, url)
  return { link: { name, url, status }, works: status !== null && status >= 200 && status < 300 }
}

async function statusOf({ limits, signal }: CheckContext, transport: HttpTransport, url: string) {
  const request = { url, method: 'GET', headers: {}, body: '', timeoutMs: limits.effectMs, signal }
  try {
    return (await sendWith(transport, request)).status
  } catch {
    return null
  }
}
