/** What a fault does, in words: for journal, log and reports. Pure. */
import type { FaultSpec, SendingSpec } from './schema.ts'

/** `answered 503`, `delayed 2s, sent 2 times` */
export const effectWords = (spec: FaultSpec): string =>
  [...answerWords(spec), ...orderWords(spec), ...sendingWords(spec)].join(', ')

function answerWords({ respond, latency, drop, reset, slow_body, malformed }: FaultSpec): string[] {
  return words(
    latency && `kept waiting ${latency}`,
    respond && `answered ${respond.status}`,
    drop === 'before' && 'connection closed before it was processed',
    drop === 'after' && 'processed, the answer lost',
    reset && 'connection reset before it was processed',
    slow_body && `the answer's body spread over ${slow_body}`,
    malformed && 'the answer cut in the middle of its JSON',
  )
}

function orderWords({ delay, slow, swap, hold, sign }: FaultSpec): string[] {
  return words(
    delay && `delayed ${delay} out of its lane`,
    slow && `held its lane ${slow}`,
    swap && 'sent after the next event',
    hold !== undefined && `kept back until ${hold} later ${hold === 1 ? 'event' : 'events'} passed`,
    sign && SIGNED[sign],
  )
}

const SIGNED: Record<NonNullable<FaultSpec['sign']>, string> = {
  none: 'not signed',
  'wrong-key': 'signed with a wrong key',
  tampered: 'changed after signing',
  truncated: 'its signature cut short',
  hex: 'its signature encoded wrong',
}

function sendingWords({ duplicate, gap, truncate, ...wire }: SendingSpec): string[] {
  return words(
    duplicate !== undefined && `sent ${duplicate} times${gap ? `, ${gap} apart` : ''}`,
    truncate && 'its body cut short',
    ...wireWords(wire),
  )
}

/** Only what needs a connection of its own. */
export function wireWords({ drip, reset_after_answer, http }: SendingSpec): string[] {
  const oddities = [http ?? []].flat()
  return words(
    drip && `its body dripped over ${drip}`,
    reset_after_answer && 'its connection reset after the answer',
    oddities.includes('header-case') && 'its header names in odd case',
    oddities.includes('chunked') && 'its body chunked',
  )
}

const words = (...all: (string | false | undefined)[]): string[] =>
  all.filter((one): one is string => typeof one === 'string')
