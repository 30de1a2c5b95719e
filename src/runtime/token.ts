/** Secrets that must not be guessed: unlike ids they do not come from the seed. */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

export const randomToken = (): string => randomBytes(24).toString('base64url')

/** For a run that was given none: short, so that it can be typed again. */
export const freshSeed = (): number => randomInt(1, 1_000_000)

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Takes the same time wherever the two differ. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
