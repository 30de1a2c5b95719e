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

/** Of one play in one event. */
const MOST_ENTRIES = 200

/**
 * Reads the state when the client requests more, so a slow client misses steps in between and delays only itself. It
 * receives every entry of a play until the play ends; the result then has all of them.
 */
export const createUiReader = ({ session, secrets, ...stream }: UiStreamOptions): EventReader =>
  createEventReader({ subscribe: session.subscribe, take: createChangeReader(session, secrets), ...stream })

/** Returns a function that renders what has changed since its last call. */
function createChangeReader(session: UiSession, secrets: Redactor): () => string {
  let catalogueVersion = 0
  let statesVersion = 0
  let run: RunStatus | null = null
  let watch: WatchSetting | null = null
  const seqs = new Map<number, number>()
  const event = <Name extends keyof UiEvents>(name: Name, data: UiEvents[Name]): string =>
    `event: ${name}\ndata: ${JSON.stringify(secrets.redactDeep(data))}\n\n`

  function catalogueEvent(): string {
    const catalogue = session.catalogue()
    if (catalogue.version === catalogueVersion) return ''
    catalogueVersion = catalogue.version
    return event('catalogue', catalogue)
  }

  function statusEvent(): string {
    const { version, status } = session.status(statesVersion)
    if (status.scenarios.length === 0 && status.run === run && status.watch === watch) return ''
    statesVersion = version
    run = status.run
    watch = status.watch
    return event('status', status)
  }

  function entryEvents(): string {
    const playing = session.playing()
    for (const play of seqs.keys()) if (playing.every(one => one.play !== play)) seqs.delete(play)
    return playing
      .map(({ name, play, entriesAfter }) => {
        const entries = entriesAfter(seqs.get(play) ?? 0, MOST_ENTRIES)
        const last = entries.at(-1)
        if (last === undefined) return ''
        seqs.set(play, last.seq)
        return event('entries', { name, play, entries })
      })
      .join('')
  }

  return () => catalogueEvent() + statusEvent() + entryEvents()
}
