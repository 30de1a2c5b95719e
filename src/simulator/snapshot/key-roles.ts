/** What each API key is for: how a snapshot names keys without showing them. */
import { moreKeys } from '../../api/keyring.ts'
import type { Knobs } from '../../contract/knobs.ts'

export function keyRoles(knobs: Knobs): { readonly role: string; readonly key: string }[] {
  const more = moreKeys(knobs).map(([key], index) => ({ role: `more ${index + 1}`, key }))
  return [{ role: 'handover', key: knobs['keys.handover'] }, { role: 'bot', key: knobs['keys.bot'] }, ...more]
}
