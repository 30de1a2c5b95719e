/** Says what a proxy records: between which addresses, since when, how much, and into which file. */
import { useMemo } from 'preact/hooks'
import { counted } from '../../../base/text/quantities.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { moment } from '../model/formats.ts'
import { usePlatformStore } from './platform/platform-section.tsx'
import { useSession } from './session-context.ts'

export function ProxyBar() {
  const { log } = useSession()
  const proxy = usePlatformStore().proxy.value
  const { entries } = log.value
  const lastSeq = entries.at(-1)?.seq
  const [calls, deliveries] = useMemo(
    () => ['api', 'delivery'].map(kind => entries.filter(entry => entry.kind === kind).length),
    [entries, lastSeq],
  )
  if (proxy === null) return null
  return (
    <section class="proxy-bar" aria-label="Recording">
      <strong>Recording</strong>
      <span>
        calls to <code>{proxy.upstream}</code>
      </span>
      <span>
        events to <code>{proxy.webhook_url}</code>
      </span>
      <span>
        {counted(calls ?? 0, 'call')}, {deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`} since{' '}
        {moment(proxy.since)}
      </span>
      <span>
        in <code>{proxy.file}</code> <CopyButton text={proxy.file} what="the name of the file" />
      </span>
    </section>
  )
}
