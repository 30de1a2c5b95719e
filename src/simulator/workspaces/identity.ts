/** Derives keys, bot id and seed of a workspace from its name and the server's seed, so that every run gets the same. */
import { makeId } from '../../runtime/ids.ts'
import { hashWords } from '../../runtime/random.ts'

export interface Identity {
  readonly id: string
  readonly apiKey: string
  readonly botApiKey: string
  readonly botId: number
  readonly seed: number
}

/** Names appear in paths and links, so they must not contain separators. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const FIRST_BOT = 100_000
const BOTS = 900_000

/** Depends only on seed and name, not on other workspaces. */
export function identityOf(serverSeed: number, id: string): Identity {
  const [words] = hashWords(`workspace ${id}`, serverSeed)
  return {
    id,
    apiKey: `sim-${makeId('hex24', serverSeed, `workspace ${id} handover key`)}`,
    botApiKey: `sim-${makeId('hex24', serverSeed, `workspace ${id} bot key`)}`,
    botId: FIRST_BOT + (words % BOTS),
    seed: words,
  }
}
