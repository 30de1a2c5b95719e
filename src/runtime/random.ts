/** Makes pseudo-random numbers: the same seed and label give the same numbers on every machine. */

export type Words = readonly [number, number, number, number]

/** Four 32-bit words from a text and a seed (a mixing hash, not a cryptographic one). */
export const hashWords = (text: string, seed: number): Words =>
  hashFrom([(1779033703 ^ seed) | 0, (3144134277 ^ (seed >>> 1)) | 0, 1013904242, 2773480762 | 0], text)

/** Continues from earlier words, so that a long common beginning is hashed once. */
export function hashFrom(words: Words, text: string): Words {
  let [a, b, c, d] = words
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = b ^ Math.imul(a ^ code, 597399067)
    b = c ^ Math.imul(b ^ code, 2869860233)
    c = d ^ Math.imul(c ^ code, 951274213)
    d = a ^ Math.imul(d ^ code, 2716044179)
  }
  return finish(a, b, c, d)
}

function finish(a: number, b: number, c: number, d: number): Words {
  const w = Math.imul(c ^ (a >>> 18), 597399067)
  const x = Math.imul(d ^ (b >>> 22), 2869860233)
  const y = Math.imul(w ^ (c >>> 17), 951274213)
  const z = Math.imul(x ^ (d >>> 19), 2716044179)
  const all = w ^ x ^ y ^ z
  return [all >>> 0, (x ^ all) >>> 0, (y ^ all) >>> 0, (z ^ all) >>> 0]
}

export interface Random {
  /** In [0, 1). */
  next(): number
  /** A whole number in [0, below). */
  below(bound: number): number
  pick<T>(items: readonly T[]): T
  /** The state from which `randomFrom` continues. */
  readonly state: number
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
    get state() {
      return state
    },
  }
}
