/** Shows the journal of `start` while it grows: as a log on stderr, or as NDJSON on stdout. */

import { isMap } from '../base/objects.ts'
import { nextMacrotask } from '../base/runtime/clock.ts'
import { onProcessExit } from '../base/runtime/node.ts'
import { createLimitedLog } from '../pages/reporters/log.ts'
import type { LogStyle } from '../pages/reporters/log-filter.ts'
import type { Entry } from '../platform/journal/entry.ts'
import type { Journal } from '../platform/journal/journal.ts'
import { shortEntry } from '../platform/journal/short-entry.ts'
import { presentEntry } from '../platform/wording/entry.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { type Context, colorLevel, type Output } from './io.ts'

export interface Traffic {
  /** Writes what is not written yet. */
  end(): void
}

export interface TrafficFlags {
  readonly output: LogStyle
  readonly json?: boolean | undefined
}

/** Shows the entries from before the call first. An end of the process in any way loses nothing. */
export function showTraffic(
  journal: Journal,
  { json, output }: TrafficFlags,
  { values }: Resolved,
  context: Context,
): Traffic {
  const signatureHeader = String(values['webhook.signatureHeader'])
  const present = (entry: Entry) => presentEntry(entry, signatureHeader)
  const { show, end } = json ? createJsonLines(context, present) : createTerminalLog(context, output, present)
  for (const entry of journal.query()) show(entry)
  journal.subscribe(show)
  const forget = onProcessExit(end)
  return {
    end() {
      forget()
      end()
    },
  }
}

type Present = (entry: Entry) => Entry

interface View extends Traffic {
  show(entry: Entry): void
}

function createJsonLines({ unredacted, secrets }: Context, present: Present): View {
  const batch = createBatch(unredacted.stdout)
  return {
    show(entry) {
      const line = Object.assign({ v: 1, type: 'entry' }, shortEntry(present(entry)))
      batch.write(`${JSON.stringify(secrets.redactDeep(line))}\n`)
    },
    end: batch.flush,
  }
}

function createTerminalLog({ io, env, secrets }: Context, style: LogStyle, present: Present): View {
  const { isTTY, columns } = io.stderr
  return createLimitedLog({
    style,
    colorLevel: colorLevel(env, isTTY),
    columns: Math.min(Math.max(columns ?? 100, 80), 160),
    present: entry => secrets.redactDeep(withoutMessages(present(entry))),
    write: text => io.stderr.write(text),
  })
}

/** The log shows how many messages a transcript has, so their texts need no redaction. */
function withoutMessages(entry: Entry): Entry {
  if (entry.kind !== 'api' || !isMap(entry.response) || !isMap(entry.response.chat)) return entry
  const { messages } = entry.response.chat
  if (!Array.isArray(messages)) return entry
  return { ...entry, response: { ...entry.response, chat: { messages: messages.map(() => null) } } }
}

/** Characters that are written without waiting for more. */
const MOST_BATCHED = 65_536

/** Writes what one turn of the event loop brings at once, because a write for each line costs more than the line. */
function createBatch(output: Output) {
  let batch = ''
  function flush(): void {
    const text = batch
    batch = ''
    if (text !== '') output.write(text)
  }
  return {
    write(text: string): void {
      if (batch === '') void nextMacrotask().then(flush)
      batch += text
      if (batch.length >= MOST_BATCHED) flush()
    },
    flush,
  }
}
