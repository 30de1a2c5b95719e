/** Gathers the shipped conversations, which load with the first chat that begins with one. */

import arBank from '../../../fixtures/transcripts/ar-bank.json' with { type: 'json' }
import arMunicipality from '../../../fixtures/transcripts/ar-municipality.json' with { type: 'json' }
import arShop from '../../../fixtures/transcripts/ar-shop.json' with { type: 'json' }
import arTransport from '../../../fixtures/transcripts/ar-transport.json' with { type: 'json' }
import deBank from '../../../fixtures/transcripts/de-bank.json' with { type: 'json' }
import deMunicipality from '../../../fixtures/transcripts/de-municipality.json' with { type: 'json' }
import deShop from '../../../fixtures/transcripts/de-shop.json' with { type: 'json' }
import deTransport from '../../../fixtures/transcripts/de-transport.json' with { type: 'json' }
import enBank from '../../../fixtures/transcripts/en-bank.json' with { type: 'json' }
import enMunicipality from '../../../fixtures/transcripts/en-municipality.json' with { type: 'json' }
import enShop from '../../../fixtures/transcripts/en-shop.json' with { type: 'json' }
import enTransport from '../../../fixtures/transcripts/en-transport.json' with { type: 'json' }
import nbBank from '../../../fixtures/transcripts/nb-bank.json' with { type: 'json' }
import nbMunicipality from '../../../fixtures/transcripts/nb-municipality.json' with { type: 'json' }
import nbShop from '../../../fixtures/transcripts/nb-shop.json' with { type: 'json' }
import nbTransport from '../../../fixtures/transcripts/nb-transport.json' with { type: 'json' }
import type { TranscriptName } from '../contract/bot-texts.ts'
import type { ChatHistoryRow } from '../rules/chats.ts'

export interface ShippedTranscript {
  readonly language: string
  readonly bot_name: string
  readonly source: string
  readonly context: Readonly<Record<string, unknown>>
  readonly labels: readonly string[]
  readonly history: readonly ChatHistoryRow[]
}

export const SHIPPED_TRANSCRIPTS: Readonly<Record<TranscriptName, ShippedTranscript>> = {
  'en-shop': enShop,
  'en-bank': enBank,
  'en-transport': enTransport,
  'en-municipality': enMunicipality,
  'nb-shop': nbShop,
  'nb-bank': nbBank,
  'nb-transport': nbTransport,
  'nb-municipality': nbMunicipality,
  'de-shop': deShop,
  'de-bank': deBank,
  'de-transport': deTransport,
  'de-municipality': deMunicipality,
  'ar-shop': arShop,
  'ar-bank': arBank,
  'ar-transport': arTransport,
  'ar-municipality': arMunicipality,
}
