/** What an inbox read must be: a list of what the agent sees, oldest first. */
import { formatValue } from '../contract/explain-issues.ts'
import { isMap } from '../files/is-map.ts'
import { type CallOutcome, failed, messageOf, startOf } from './call-outcome.ts'
import type { InboxItem } from './driver.ts'

const EXPECTED_FORMAT = 'the inbox must be a list of { request?: true, text?, attachments? }'

export type InboxRead = CallOutcome & { readonly items?: readonly InboxItem[] }

export function readInbox(done: CallOutcome): InboxRead {
  if (done.outcome !== 'ok') return done
  try {
    const items = 'value' in done ? done.value : parsed(done.text ?? '')
    checkItems(items)
    return { ...done, items: 'value' in done ? asOfNow(items) : items }
  } catch (error) {
    return { ...done, ...failed(messageOf(error)) }
  }
}

/** A function may hand out the list it goes on working with. */
const asOfNow = (items: readonly InboxItem[]): readonly InboxItem[] => JSON.parse(JSON.stringify(items))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${EXPECTED_FORMAT}, as JSON; got ${text.trim() === '' ? 'nothing' : startOf(text)}`)
  }
}

function checkItems(items: unknown): asserts items is readonly InboxItem[] {
  if (!Array.isArray(items)) throw new Error(`${EXPECTED_FORMAT}, got ${described(items)}`)
  for (const [index, item] of items.entries()) {
    const wrong = wrongItem(item)
    if (wrong !== null) throw new Error(`${EXPECTED_FORMAT}; item ${index + 1}: ${wrong}`)
  }
}

function wrongItem(item: unknown): string | null {
  if (!isMap(item)) return `must be an object, got ${described(item)}`
  const { request, text, attachments } = item
  if (request !== undefined && request !== true) return `request must be true or left out, got ${described(request)}`
  if (text !== undefined && typeof text !== 'string') return `text must be a string or left out, got ${described(text)}`
  if (attachments === undefined || (Array.isArray(attachments) && attachments.every(isMap))) return null
  return `attachments must be a list of objects or left out, got ${described(attachments)}`
}

const described = (value: unknown) =>
  isMap(value) ? `an object: ${startOf(JSON.stringify(value))}` : formatValue(value)
