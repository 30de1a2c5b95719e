/** Loads the conversations of fixtures/transcripts on demand. */

import type { ChatHistoryRow } from '../platform/chats.ts'
import { nearest } from '../text/near-names.ts'
import { InvalidOptionError } from './options.ts'

export interface ShippedTranscript {
  readonly language: string
  readonly domain: string
  readonly bot_name: string
  readonly source: string
  readonly context: Readonly<Record<string, unknown>>
  readonly labels: readonly string[]
  readonly history: readonly ChatHistoryRow[]
}

type Loaded = { default: unknown }
const FILES: Record<string, () => Promise<Loaded>> = {
  'en-shop': () => import('../../fixtures/transcripts/en-shop.json', { with: { type: 'json' } }),
  'en-bank': () => import('../../fixtures/transcripts/en-bank.json', { with: { type: 'json' } }),
  'en-transport': () => import('../../fixtures/transcripts/en-transport.json', { with: { type: 'json' } }),
  'en-municipality': () => import('../../fixtures/transcripts/en-municipality.json', { with: { type: 'json' } }),
  'nb-shop': () => import('../../fixtures/transcripts/nb-shop.json', { with: { type: 'json' } }),
  'nb-bank': () => import('../../fixtures/transcripts/nb-bank.json', { with: { type: 'json' } }),
  'nb-transport': () => import('../../fixtures/transcripts/nb-transport.json', { with: { type: 'json' } }),
  'nb-municipality': () => import('../../fixtures/transcripts/nb-municipality.json', { with: { type: 'json' } }),
  'de-shop': () => import('../../fixtures/transcripts/de-shop.json', { with: { type: 'json' } }),
  'de-bank': () => import('../../fixtures/transcripts/de-bank.json', { with: { type: 'json' } }),
  'de-transport': () => import('../../fixtures/transcripts/de-transport.json', { with: { type: 'json' } }),
  'de-municipality': () => import('../../fixtures/transcripts/de-municipality.json', { with: { type: 'json' } }),
  'ar-shop': () => import('../../fixtures/transcripts/ar-shop.json', { with: { type: 'json' } }),
  'ar-bank': () => import('../../fixtures/transcripts/ar-bank.json', { with: { type: 'json' } }),
  'ar-transport': () => import('../../fixtures/transcripts/ar-transport.json', { with: { type: 'json' } }),
  'ar-municipality': () => import('../../fixtures/transcripts/ar-municipality.json', { with: { type: 'json' } }),
}

const TRANSCRIPT_NAMES = Object.keys(FILES)

export async function loadTranscript(name: string): Promise<ShippedTranscript> {
  const load = Object.hasOwn(FILES, name) ? FILES[name] : undefined
  if (load) return (await load()).default as ShippedTranscript
  const message = `transcript ${JSON.stringify(name)} is not shipped${nearest(name, TRANSCRIPT_NAMES)}; there are ${TRANSCRIPT_NAMES.join(', ')}.`
  throw new InvalidOptionError([{ name: 'transcript', message }])
}
