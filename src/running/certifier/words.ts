/** Words that the sentences of several checks have in common. */
import type { DeliveryFailure } from '../../platform/journal/entry.ts'
import { failureText } from '../../platform/wording/failures.ts'

/** `: what`, or nothing. */
export const suffix = (what: string | null | undefined): string => (what ? `: ${what}` : '')

/** Follows "the webhook". */
export function answerText(answer: { readonly status: number | null; readonly failure?: DeliveryFailure }): string {
  if (answer.status !== null) return `answered ${answer.status}`
  return answer.failure === undefined ? 'gave no answer' : `gave no answer (${failureText(answer.failure)})`
}
