/** Keys and signatures where people or logs can read them. */
import { defaultKnobs } from '../contract/knobs.ts'
import type { Entry } from '../journal/entry.ts'
import { stringsIn } from '../scenario/interpolation.ts'
import type { Found, History, Rule } from './rule.ts'

/** Shorter ones are words that may stand anywhere. */
const SHORTEST = 8

export const secretExposed: Rule = {
  id: 'secret-exposed',
  find(history) {
    const secrets = secretsOf(history)
    return history.entries.flatMap(entry =>
      placesOf(entry).flatMap(({ where, text }) => {
        const what = namedIn(where, text) ?? secrets.find(({ value }) => text.includes(value))?.what ?? null
        return what === null ? [] : [exposed(history, entry, what, where)]
      }),
    )
  },
}

interface Secret {
  readonly what: string
  readonly value: string
}

/** The keys of the scenario, and those seen in the headers; in a saved journal these are masked. */
function secretsOf({ plan, calls, entries }: History): Secret[] {
  const knobs = defaultKnobs()
  const key = (value: unknown): Secret => ({ what: 'an API key', value: String(value) })
  const configured = (['keys.handover', 'keys.bot'] as const).map(name => key(plan.config[name] ?? knobs[name]))
  const sent = calls.map(({ request }) => key(/^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''))
  const signatures = entries.flatMap(signaturesOf).map(value => ({ what: 'a webhook signature', value }))
  const known = new Map([...configured, ...sent, ...signatures].map(secret => [secret.value, secret]))
  return [...known.values()].filter(({ value }) => value.length >= SHORTEST && !value.includes('***'))
}

const signaturesOf = (entry: Entry): string[] =>
  entry.kind !== 'delivery' ? [] : Object.values(entry.request.headers).filter(value => /^[\w+/]{43}=$/.test(value))

interface PlaceOfText {
  readonly where: 'a text' | 'the address' | 'the answer to a webhook'
  readonly text: string
}

function placesOf(entry: Entry): PlaceOfText[] {
  if (entry.kind === 'delivery') return [{ where: 'the answer to a webhook', text: entry.response?.body ?? '' }]
  if (entry.kind !== 'api') return []
  const texts = stringsIn(entry.request.body).map(text => ({ where: 'a text', text }) as const)
  return [{ where: 'the address', text: decoded(entry.path) }, ...texts]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The name first: in a saved journal the value is masked, and both should read the same. */
const namedIn = (where: PlaceOfText['where'], text: string): string | null =>
  where === 'the address' && /[?&][^=&#]*(key|token|secret|auth)[^=&#]*=/i.test(text) ? 'a key or token' : null

function exposed(
  { conversationOf }: History,
  { seq, chat_id }: Entry,
  what: string,
  where: PlaceOfText['where'],
): Found {
  const message =
    `#${seq} has ${what} in ${where}. ${READERS[where]} can use it to write to every chat of the bot, or to forge ` +
    'events. Send the key in the Authorization header only, and replace one that has been seen.'
  return { message, conversation: conversationOf(chat_id), marks: [seq] }
}

const READERS = {
  'a text': 'Whoever reads it, the user included,',
  'the address': 'Addresses end up in logs and proxies, and whoever reads those',
  'the answer to a webhook': 'Whoever can call the webhook',
} as const
