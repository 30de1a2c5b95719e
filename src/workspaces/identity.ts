/** Who a workspace is: name, keys, bot and seed, drawn from the server's seed, so that every run has the same. */
import { makeId } from '../runtime/ids.ts'
import { hashWords } from '../runtime/random.ts'

export interface Identity {
  readonly id: string
  readonly apiKey: string
  readonly botApiKey: string
  readonly botId: number
  readonly seed: number
}

/** A name stands in paths and links, and is told apart there from what follows it. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const FIRST_BOT = 100_000
const BOTS = 900_000

/** Nothing but seed and name decides: which workspaces were made before does not matter. */
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
