import { ALIASES } from '../../../platform/contract/endpoint-routes.ts'
import { type LinterRule, listed } from './rule.ts'

/** Reports once that a run uses both names of the API. */
export const aliasMixed: LinterRule = {
  id: 'alias-mixed',
  *findInRun({ calls }) {
    const [handoverSeqs = [], takeoverSeqs = []] = ALIASES.map(alias =>
      calls.filter(call => call.alias === alias).map(({ seq }) => seq),
    )
    const [[first], [other]] = [handoverSeqs, takeoverSeqs]
    if (first === undefined || other === undefined) return
    const happened = `${handoverSeqs.length} calls went to /api/v2/handover/ (${listed(handoverSeqs)}) and ${takeoverSeqs.length} to /api/v2/takeover/ (${listed(takeoverSeqs)}). Both work today (V2), but logs, limits and a later migration are easier with one. Build every path from one base.`
    yield { happened, entrySeqs: [first, other] }
  },
}
