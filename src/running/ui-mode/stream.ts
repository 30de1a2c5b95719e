/** Streams what changes in UI mode: a stream begins with the whole state, and then sends what is new since its last event. */
import type { Redactor } from '../../base/text/redactor.ts'
import { createEventReader, type EventReader, type OpenStreams } from '../../server/control/event-stream.ts'
import type { RunStatus, UiEvents, WatchSetting } from './protocol.ts'
import type { UiSession } from './session.ts'

export interface UiStreamOptions {
  readonly session: UiSession
  readonly secrets: Redactor
  readonly closing: AbortSignal
  readonly heartbeatMs: number
  readonly streams: OpenStreams
}

/** Of one scenario in one event. */
const MAX_ENTRIES = 200

/**
 * Reads the state when the client requests more, so a slow client misses steps in between and delays only itself. It
 * receives every entry of a scenario until its run ends; the result then has all of them.
 */
export function createUiReader({ session, secrets, ...stream }: UiStreamOptions): EventReader {
  let catalogueVersion = 0
  let statesVersion = 0
  let runStatus: RunStatus | null = null
  let watch: WatchSetting | null = null
  /** The last entry that was sent, by run. */
  const seqs = new Map<number, number>()
  const event = <Name extends keyof UiEvents>(name: Name, data: UiEvents[Name]): string =>
    `event: ${name}\ndata: ${JSON.stringify(secrets.redactDeep(data))}\n\n`

  /** Renders what has changed since its last call. */
  function take(): string {
    let text = ''
    const catalogue = session.catalogue()
    if (catalogue.version !== catalogueVersion) {
      catalogueVersion = catalogue.version
      text += event('catalogue', catalogue)
    }
    const { version, status } = session.status(statesVersion)
    if (status.scenarios.length > 0 || status.run !== runStatus || status.watch !== watch) {
      statesVersion = version
      runStatus = status.run
      watch = status.watch
      text += event('status', status)
    }
    const active = session.active()
    for (const run of seqs.keys()) if (active.every(one => one.run !== run)) seqs.delete(run)
    for (const { name, run, entriesAfter } of active) {
      const entries = entriesAfter(seqs.get(run) ?? 0, MAX_ENTRIES)
      const last = entries.at(-1)
      if (last === undefined) continue
      seqs.set(run, last.seq)
      text += event('entries', { name, run, entries })
    }
    return text
  }
  return createEventReader({ subscribe: session.subscribe, take, ...stream })
}
