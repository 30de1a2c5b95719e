/** Makes ids from a seed and a label only, so that a message in one chat changes no id in another. */
import { hashFrom, hashWords, type Words } from './random.ts'

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Several times faster than `toString(16)`, which matters because every message has ids. */
const hex8 = (word: number) =>
  `${BYTES[word >>> 24]}${BYTES[(word >>> 16) & 255]}${BYTES[(word >>> 8) & 255]}${BYTES[word & 255]}`

/** Sets the version and variant bits, so that strict UUID parsers accept the id. */
function uuid(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export type IdForm = 'uuid' | 'hex24' | 'hex32'

export const makeId = (form: IdForm, seed: number, label: string): string => written(form, hashWords(label, seed))

/** For many ids of one owner, such as a chat: `owner` is hashed once. */
export const makeIdFrom = (form: IdForm, owner: Words, label: string): string => written(form, hashFrom(owner, label))

function written(form: IdForm, [a, b, c, d]: Words): string {
  if (form === 'hex24') return hex8(a) + hex8(b) + hex8(c)
  const hex = hex8(a) + hex8(b) + hex8(c) + hex8(d)
  return form === 'uuid' ? uuid(hex) : hex
}
