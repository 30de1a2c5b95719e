/** Makes and compares secrets. Unlike ids, they do not depend on the seed. */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

export const randomToken = (): string => randomBytes(24).toString('base64url')

/** A seed for a run without one, short enough to type. */
export const freshSeed = (): number => randomInt(1, 1_000_000)

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares in constant time. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
