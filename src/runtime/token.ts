/** Secrets that must not be guessed: unlike ids they do not come from the seed. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export const randomToken = (): string => randomBytes(24).toString('base64url')

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Takes the same time wherever the two differ. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
