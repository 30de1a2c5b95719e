/** Lists everything that a conversation with the example intermediary may contain. */
import { keysOf } from '../../src/base/objects.ts'
import { VARIED_KNOBS, type Vocabulary } from '../../src/running/explorer/generate.ts'
import { ACT_FAULTS, ACT_RULES, PACES } from '../../src/running/explorer/model.ts'

/** How these conversations become scenarios. */
export const SETTINGS = {
  inbox: true,
  requests: true,
  laterRequests: true,
  notices: false,
  withinMs: 5_000,
  inProcess: null,
  name: 'Any acts',
}

export const ALL: Vocabulary = {
  kinds: keysOf(ACT_RULES),
  faults: keysOf(ACT_FAULTS),
  knobs: VARIED_KNOBS,
  hasFiles: true,
  paces: PACES.filter(pace => pace !== 'slow'),
}
