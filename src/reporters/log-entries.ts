/** Describes journal entries for the log. */

import type { Entry, EntryOf } from '../journal/entry.ts'
import { counted } from '../text/quantities.ts'
import { shorten, visible } from '../text/terminal-text.ts'
import { defineTexts } from '../text/texts.ts'
import { effectText, notAppliedText } from '../wording/faults.ts'
import { describeCall } from './log-calls.ts'
import { describeDelivery, describeEvent } from './log-deliveries.ts'
import type { LogLine } from './log-line.ts'

const TEXTS = defineTexts({
  presses: 'presses',
  writes: 'writes',
  sends: (files: string) => `sends ${files}`,
  chat: (id: string, source: string) => `chat ${id} (${source})`,
  hidesTyping: (why: string) => `hides the typing indicator (${why})`,
  chatEnds: (why: string) => `the chat ends (${why})`,
  availability: (value: string, by: string) => `availability ${value} (${by})`,
  hit: (hit: number) => `hit ${hit}`,
  hitOf: (hit: number, of: number) => `${hit} of ${of}`,
  fault: (name: string, effect: string, count: string, reason: string) => `${name}: ${effect} (${count})${reason}`,
  faultSet: (name: string, effect: string) => `${name} is set: ${effect}`,
  faultCleared: (name: string, hits: number) => `${name} is cleared after ${counted(hits, 'hit')}`,
})

/** Null for an entry that another entry repeats. */
export function describeEntry(entry: Entry): LogLine | null {
  switch (entry.kind) {
    case 'api':
      return describeCall(entry)
    case 'event':
      return describeEvent(entry)
    case 'delivery':
      return describeDelivery(entry)
    case 'user':
      return describeUser(entry)
    case 'note':
      return describeNote(entry)
    case 'fault':
      return describeFault(entry)
    default:
      return other(entry.kind, details(entry))
  }
}

function describeUser({ action, text, button, attachments }: EntryOf<'user'>): LogLine {
  const direction = 'user -> platform'
  if (action === 'press') return { direction, what: TEXTS.presses, quoted: button ?? '', details: [], wrong: false }
  const files = (attachments ?? []).map(file => `${visible(file.name)} ${file.size_kb} kB`)
  return {
    direction,
    what: files.length === 0 ? TEXTS.writes : TEXTS.sends(shorten(files.join(', '), 40)),
    quoted: text === '' ? undefined : text,
    details: [],
    wrong: false,
  }
}

/** `fault flaky: answered 503 (1 of 2)` */
function describeFault({ fault, effect, hit, of, not_applied }: EntryOf<'fault'>): LogLine {
  const count = of === null ? TEXTS.hit(hit) : TEXTS.hitOf(hit, of)
  const short = not_applied === undefined ? '' : `; ${visible(notAppliedText(not_applied))}`
  return {
    direction: 'fault',
    what: TEXTS.fault(visible(fault), visible(effectText(effect)), count, short),
    details: [],
    wrong: false,
  }
}

/** Notes that the log leaves out: the call that caused them, or the delivery that follows, says the same. */
const REPEATED = new Set(['taken_over', 'takeover_replaced', 'handed_back', 'event_triggered'])

function describeNote(entry: EntryOf<'note'>): LogLine | null {
  const text = (name: string) => visible(String(entry[name] ?? ''))
  switch (entry.note) {
    case 'bot_message':
      return {
        direction: 'platform -> user',
        what: TEXTS.writes,
        quoted: String(entry.text ?? ''),
        details: [],
        wrong: false,
      }
    case 'chat_created':
      return other('platform', TEXTS.chat(text('chat_id'), text('source')))
    case 'typing_hidden':
      return other('platform -> user', TEXTS.hidesTyping(text('why')))
    case 'chat_ended':
      return other('platform', TEXTS.chatEnds(text('why')))
    case 'availability':
      return entry.by === 'api' ? null : other('platform', TEXTS.availability(text('availability'), text('by')))
    case 'config':
      return other('settings', details((entry.changed ?? {}) as Record<string, unknown>))
    case 'fault_set':
      return other('fault', TEXTS.faultSet(text('fault'), visible(effectText(entry.effect))))
    case 'fault_cleared':
      return other('fault', TEXTS.faultCleared(text('fault'), Number(entry.hits)))
    case 'evicted':
      return { ...other('journal', text('message')), wrong: true }
    default:
      return REPEATED.has(entry.note) ? null : other('note', `${visible(entry.note)} ${details(entry)}`)
  }
}

const FRAME = new Set(['v', 'seq', 'time', 'cause', 'kind', 'chat_id', 'note'])

const other = (direction: string, what: string): LogLine => ({
  direction,
  what: what.trim(),
  details: [],
  wrong: false,
})

/** `name=value name=value`, without what the line shows anyway. */
function details(fields: object): string {
  return Object.entries(fields)
    .filter(([name]) => !FRAME.has(name))
    .map(([name, value]) => visible(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
    .join(' ')
}
