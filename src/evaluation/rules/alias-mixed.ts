import { ALIASES } from '../../platform/contract/endpoint-routes.ts'
import { listed, type Rule } from './rule.ts'

/** Reports once that a run uses both names of the API. */
export const aliasMixed: Rule = {
  id: 'alias-mixed',
  level: 'SHOULD',
  *judgeAll({ calls }) {
    const [handover = [], takeover = []] = ALIASES.map(alias => calls.filter(call => call.alias === alias))
    const [[first], [other]] = [handover, takeover]
    if (first === undefined || other === undefined) return
    yield {
      happened: `${handover.length} calls went to /api/v2/handover/ (${listed(handover)}) and ${takeover.length} to /api/v2/takeover/ (${listed(takeover)}). Both work today (V2), but logs, limits and a later migration are easier with one.`,
      hint: 'Build every path from one base.',
      entries: [first, other],
    }
  },
}
