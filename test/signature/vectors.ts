/** Describes the vectors of fixtures/signatures/: bodies with valid signatures, and with those of common mistakes. */

export interface Vector {
  readonly name: string
  readonly key: string
  readonly body_base64: string
  /** The body as text, where it is text. */
  readonly body_utf8?: string
  readonly headers: Readonly<Record<string, string>>
  /** The value of the signature header; null when it is missing. */
  readonly signature: string | null
  readonly valid: boolean
  /** The mistake that gives this invalid signature. */
  readonly mistake?: string
}

export const FILE_URL = new URL('../../fixtures/signatures/vectors.json', import.meta.url)
