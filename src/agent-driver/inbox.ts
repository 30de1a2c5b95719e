/** Reads the answer of an inbox call: a list of what the agent sees, oldest first. */
import { formatValue } from '../contract/explain-issues.ts'
import { isMap } from '../files/is-map.ts'
import type { InboxFailure } from '../journal/run-failures.ts'
import { type CallOutcome, failed, startOf } from './call-outcome.ts'
import type { InboxItem } from './driver.ts'

export type ParsedInbox = CallOutcome & { readonly items?: readonly InboxItem[] }

export function parseInbox(call: CallOutcome): ParsedInbox {
  if (call.outcome !== 'ok') return call
  const read = 'value' in call ? checkItems(call.value) : parseItems(call.text ?? '')
  return 'code' in read ? { ...call, ...failed(read) } : { ...call, items: read.items }
}

type Items = { readonly items: readonly InboxItem[] } | InboxFailure

function parseItems(text: string): Items {
  try {
    return checkItems(JSON.parse(text))
  } catch {
    return { code: 'inbox_not_json', received: text.trim() === '' ? 'nothing' : startOf(text) }
  }
}

/** Copies the items: a function may go on changing the list it returned. */
function checkItems(items: unknown): Items {
  if (!Array.isArray(items)) return { code: 'inbox_not_list', received: described(items) }
  for (const [index, item] of items.entries()) {
    const wrong = wrongField(item)
    if (wrong !== null) return { code: 'inbox_item', item: index + 1, ...wrong }
  }
  return { items: JSON.parse(JSON.stringify(items)) }
}

function wrongField(item: unknown): Pick<Extract<InboxFailure, { code: 'inbox_item' }>, 'field' | 'received'> | null {
  if (!isMap(item)) return { field: null, received: described(item) }
  const { request, text, attachments } = item
  if (request !== undefined && request !== true) return { field: 'request', received: described(request) }
  if (text !== undefined && typeof text !== 'string') return { field: 'text', received: described(text) }
  if (attachments === undefined || (Array.isArray(attachments) && attachments.every(isMap))) return null
  return { field: 'attachments', received: described(attachments) }
}

const described = (value: unknown) =>
  isMap(value) ? `an object: ${startOf(JSON.stringify(value))}` : formatValue(value)
