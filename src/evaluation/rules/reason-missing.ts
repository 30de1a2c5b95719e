import { isMap } from '../../base/objects.ts'
import { isAccepted } from '../history.ts'
import { listed, type Rule } from './rule.ts'

/** The platform asks callers to give a reason if they can (E3.4). */
export const reasonMissing: Rule = {
  id: 'reason-missing',
  level: 'SHOULD',
  *judgeAll({ calls }) {
    const without = calls.filter(call => {
      const { body } = call.request
      return call.endpoint === 'availability' && isAccepted(call) && !(isMap(body) && typeof body.reason === 'string')
    })
    if (without.length === 0) return
    yield {
      happened: `availability (${listed(without)}) had no \`reason\`. The platform asks for one where it is known [E3.4].`,
      hint: 'Send AGENT_AVAILABILITY when agents come and go; the other reasons are BUSINESS_HOURS and OTHER.',
      details: { calls: without.length },
      entries: without,
    }
  },
}
