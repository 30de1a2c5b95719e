import { isMap } from '../../../base/objects.ts'
import { type LinterRule, listed, succeeded } from './rule.ts'

/** The platform asks callers to give a reason if they can (E3.4). */
export const reasonMissing: LinterRule = {
  id: 'reason-missing',
  *findInRun({ calls }) {
    const without = calls.filter(call => {
      const { body } = call.request
      return call.endpoint === 'availability' && succeeded(call) && !(isMap(body) && typeof body.reason === 'string')
    })
    const seqs = without.map(({ seq }) => seq)
    if (seqs.length === 0) return
    const happened = `availability (${listed(seqs)}) had no \`reason\`. The platform asks for one where it is known [E3.4]. Send AGENT_AVAILABILITY, BUSINESS_HOURS or OTHER.`
    yield { happened, entrySeqs: seqs }
  },
}
