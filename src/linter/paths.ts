/** One name for the API, not two. */
import { ALIASES } from '../contract/endpoints.ts'
import { listed, type Rule } from './rule.ts'

export const aliasMixed: Rule = {
  id: 'alias-mixed',
  find({ calls }) {
    const [ours, other] = ALIASES.map(alias => calls.filter(call => call.alias === alias).map(({ seq }) => seq))
    if (ours!.length === 0 || other!.length === 0) return []
    const message =
      `${ours!.length} calls went to /api/v2/handover/ (${listed(ours!)}) and ${other!.length} to /api/v2/takeover/ ` +
      `(${listed(other!)}). Both work today (V2), but logs, limits and a later migration are easier with one. ` +
      'Build every path from one base.'
    return [{ message, conversation: null, marks: [ours![0]!, other![0]!] }]
  },
}
