/** Shows the journal of `start` while it grows: as a log on stderr, or as NDJSON on stdout. */
import { isMap } from '../base/objects.ts'
import { onProcessExit } from '../base/runtime/node.ts'
import { createLimitedLog } from '../pages/reporters/log.ts'
import type { LogStyle } from '../pages/reporters/log-filter.ts'
import { BEHAVIOURS, type Evidence, shows } from '../platform/contract/assumptions.ts'
import type { Entry } from '../platform/journal/entry.ts'
import type { Journal } from '../platform/journal/journal.ts'
import { shortEntry } from '../platform/journal/short-entry.ts'
import { presentEntry } from '../platform/wording/entry.ts'
import type { Resolved } from '../server/config/resolve.ts'
import { type Context, colorLevel } from './io.ts'

export interface Traffic {
  /** Writes what is not written yet. */
  end(): void
}

interface View extends Traffic {
  show(entry: Entry): void
}

/** Shows the entries from before the call first. An end of the process in any way loses nothing. */
export function showTraffic(
  journal: Journal,
  { json, output }: { readonly output: LogStyle; readonly json?: boolean | undefined },
  { values, options }: Resolved,
  { io, unredacted, env, secrets }: Context,
): Traffic {
  const signatureHeader = String(values['webhook.signatureHeader'])
  let view: View
  if (json) {
    view = {
      show(entry) {
        const shown = shortEntry(secrets.redactDeep(presentEntry(entry, signatureHeader)))
        const line = Object.assign({ v: 1, type: 'entry' }, shown)
        unredacted.stdout.write(`${JSON.stringify(line)}\n`)
      },
      end() {},
    }
  } else {
    const { isTTY, columns } = io.stderr
    view = createLimitedLog({
      style: output,
      colorLevel: colorLevel(env, isTTY),
      columns: Math.min(Math.max(columns ?? 100, 80), 160),
      present: entry =>
        secrets.redactDeep(withoutMessages(presentEntry(withoutSeen(entry, options.evidence), signatureHeader))),
      write: text => io.stderr.write(text),
    })
  }
  for (const entry of journal.query()) view.show(entry)
  journal.subscribe(view.show)
  const forget = onProcessExit(view.end)
  return {
    end() {
      forget()
      view.end()
    },
  }
}

/** The log shows how many messages a transcript has, so their texts need no redaction. */
function withoutMessages(entry: Entry): Entry {
  if (entry.kind !== 'api' || !isMap(entry.response) || !isMap(entry.response.chat)) return entry
  const { messages } = entry.response.chat
  if (!Array.isArray(messages)) return entry
  return { ...entry, response: { ...entry.response, chat: { messages: messages.map(() => null) } } }
}

/** The log does not name assumptions that the evidence of the user confirms. */
function withoutSeen(entry: Entry, evidence: Evidence | undefined): Entry {
  if (entry.kind !== 'api' || evidence === undefined) return entry
  const seen = BEHAVIOURS.filter(name => name in entry.unspecified && shows(evidence, name, entry.unspecified[name]))
  const open = Object.entries(entry.unspecified).filter(([name]) => !seen.some(seenName => seenName === name))
  return { ...entry, unspecified: Object.fromEntries(open) }
}
