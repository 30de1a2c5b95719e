/** Makes random numbers, ids and end users from a seed and a label: the same on every machine. */
import type { Faker } from '@faker-js/faker'

export type Words = readonly [number, number, number, number]

/** Four 32-bit words from a text and a seed (a mixing hash, not a cryptographic one). */
export const hashWords = (text: string, seed: number): Words =>
  hashFrom([(1779033703 ^ seed) | 0, (3144134277 ^ (seed >>> 1)) | 0, 1013904242, 2773480762 | 0], text)

/** Continues from earlier words, so that a long common beginning is hashed once. */
function hashFrom(words: Words, text: string): Words {
  let [a, b, c, d] = words
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = b ^ Math.imul(a ^ code, 597399067)
    b = c ^ Math.imul(b ^ code, 2869860233)
    c = d ^ Math.imul(c ^ code, 951274213)
    d = a ^ Math.imul(d ^ code, 2716044179)
  }
  const w = Math.imul(c ^ (a >>> 18), 597399067)
  const x = Math.imul(d ^ (b >>> 22), 2869860233)
  const y = Math.imul(w ^ (c >>> 17), 951274213)
  const z = Math.imul(x ^ (d >>> 19), 2716044179)
  const sum = w ^ x ^ y ^ z
  return [sum >>> 0, (x ^ sum) >>> 0, (y ^ sum) >>> 0, (z ^ sum) >>> 0]
}

export interface Random {
  /** In [0, 1). */
  next(): number
  /** A whole number in [0, below). */
  below(bound: number): number
  pick<T>(items: readonly T[]): T
  /** The state from which `randomFrom` continues. */
  state(): number
}

/** A mulberry32 generator. Streams with different labels are independent of each other. */
export const createRandom = (seed: number, label = ''): Random => randomFrom(hashWords(label, seed)[0])

export function randomFrom(initial: number): Random {
  let state = initial
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    below,
    pick: items => items[below(items.length)]!,
    state: () => state,
  }
}

/** An id depends only on its seed and label, so that a message in one chat changes no id in another. */
export type IdForm = 'uuid' | 'hex24' | 'hex32'

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Several times faster than `toString(16)`, which matters because every message has ids. */
const hex4 = (half: number) => `${BYTES[half >>> 8]}${BYTES[half & 255]}`
const hex8 = (word: number) => `${hex4(word >>> 16)}${hex4(word & 0xffff)}`

export const makeId = (form: IdForm, seed: number, label: string): string => written(form, hashWords(label, seed))

/** For many ids of one owner, such as a chat: `owner` is hashed once. */
export const makeIdFrom = (form: IdForm, owner: Words, label: string): string => written(form, hashFrom(owner, label))

/** `join`, because a text made with `+` keeps all its pieces in memory. */
function written(form: IdForm, [a, b, c, d]: Words): string {
  if (form === 'hex24') return [hex8(a), hex8(b), hex8(c)].join('')
  if (form === 'hex32') return [hex8(a), hex8(b), hex8(c), hex8(d)].join('')
  // With the bits of version and variant, so that strict UUID parsers accept the id.
  const version = hex4((b & 0x0fff) | 0x4000)
  const variant = hex4(((c >>> 16) & 0x3fff) | 0x8000)
  return [hex8(a), hex4(b >>> 16), version, variant, hex4(c & 0xffff) + hex8(d)].join('-')
}

/** A believable end user, drawn with faker. */
interface DrawnPersona {
  readonly firstName: string
  readonly lastName: string
  readonly fullName: string
  readonly gender: string
  /** The data that a company's bot collects. */
  readonly context: Record<string, unknown>
}

/** Each locale is loaded with its first chat. */
const LOCALES = {
  en: () => import('@faker-js/faker/locale/en'),
  nb: () => import('@faker-js/faker/locale/nb_NO'),
  de: () => import('@faker-js/faker/locale/de'),
  ar: () => import('@faker-js/faker/locale/ar'),
} satisfies Record<string, () => Promise<{ faker: Faker }>>

const isLocale = (name: string): name is keyof typeof LOCALES => Object.hasOwn(LOCALES, name)

function localeOf(language: string): keyof typeof LOCALES {
  const primary = language.toLowerCase().split(/[-_]/)[0] ?? ''
  if (primary === 'no' || primary === 'nn') return 'nb'
  return isLocale(primary) ? primary : 'en'
}

/** The same seed, label and language give the same person. */
export async function drawPersona(seed: number, label: string, language: string): Promise<DrawnPersona> {
  const { faker } = await LOCALES[localeOf(language)]()
  faker.seed(hashWords(label, seed)[0])
  const gender = faker.helpers.arrayElement(['female', 'male'] as const)
  const firstName = faker.person.firstName(gender)
  const lastName = faker.person.lastName(gender)
  const page = faker.helpers.arrayElement(['orders', 'returns', 'delivery', 'account', 'contact', 'invoices'])
  return {
    firstName,
    lastName,
    fullName: `${firstName} ${lastName}`,
    gender,
    context: {
      page_url: `https://www.example.test/${page}`,
      customer_number: faker.string.numeric({ length: 6, allowLeadingZeros: false }),
      returning_customer: faker.datatype.boolean(),
      device: faker.helpers.arrayElement(['mobile', 'desktop', 'tablet']),
    },
  }
}
