/** Finds API keys and signatures in texts, addresses and answers, where people and logs can read them. */
import { defaultKnobs } from '../contract/knobs.ts'
import type { Entry } from '../journal/entry.ts'
import { stringsIn } from '../scenario/interpolation.ts'
import type { History, LinterRule, LintFinding, Secret, SecretPlace } from './rule.ts'

/** Shorter values are words that may occur anywhere. */
const SHORTEST = 8

export const secretExposed: LinterRule = {
  id: 'secret-exposed',
  find(history) {
    const secrets = secretsOf(history)
    return history.entries.flatMap(entry =>
      textsOf(entry).flatMap(({ place, text }): LintFinding<'secret-exposed'>[] => {
        const secret = parameterIn(place, text) ?? secrets.find(({ value }) => text.includes(value))?.kind
        if (secret === undefined) return []
        const { seq, chat_id } = entry
        const details = { seq, secret, place }
        return [{ rule: 'secret-exposed', details, conversation: history.conversationOf(chat_id), entrySeqs: [seq] }]
      }),
    )
  },
}

/** The keys of the scenario, and the keys and signatures in headers, which are masked in a saved journal. */
function secretsOf({ plan, calls, entries }: History): Secret[] {
  const knobs = defaultKnobs()
  const apiKey = (value: unknown): Secret => ({ kind: 'api_key', value: String(value) })
  const configured = (['keys.handover', 'keys.bot'] as const).map(name => apiKey(plan.config[name] ?? knobs[name]))
  const sent = calls.map(({ request }) =>
    apiKey(/^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''),
  )
  const signatures = entries.flatMap(signaturesOf).map((value): Secret => ({ kind: 'signature', value }))
  const byValue = new Map([...configured, ...sent, ...signatures].map(secret => [secret.value, secret]))
  return [...byValue.values()].filter(({ value }) => value.length >= SHORTEST && !value.includes('***'))
}

const signaturesOf = (entry: Entry): string[] =>
  entry.kind !== 'delivery' ? [] : Object.values(entry.request.headers).filter(value => /^[\w+/]{43}=$/.test(value))

interface PlacedText {
  readonly place: SecretPlace
  readonly text: string
}

function textsOf(entry: Entry): PlacedText[] {
  if (entry.kind === 'delivery') return [{ place: 'webhook_answer', text: entry.response?.body ?? '' }]
  if (entry.kind !== 'api') return []
  const texts = stringsIn(entry.request.body).map((text): PlacedText => ({ place: 'text', text }))
  return [{ place: 'address', text: decoded(entry.path) }, ...texts]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Names of parameters come before values, because values are masked in a saved journal. */
const parameterIn = (place: SecretPlace, text: string): 'parameter' | undefined =>
  place === 'address' && /[?&][^=&#]*(key|token|secret|auth)[^=&#]*=/i.test(text) ? 'parameter' : undefined
