/** Names the shipped conversations that a chat can begin with. */
const LANGUAGES = ['en', 'nb', 'de', 'ar'] as const
const AREAS = ['shop', 'bank', 'transport', 'municipality'] as const

/** The language of a shipped conversation and what it is about: `nb-shop`. */
export type TranscriptName = `${(typeof LANGUAGES)[number]}-${(typeof AREAS)[number]}`

export const TRANSCRIPT_NAMES = LANGUAGES.flatMap(language => AREAS.map(area => `${language}-${area}` as const))
