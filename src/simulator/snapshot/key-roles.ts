/** What each API key is for: how a snapshot names keys without showing them. */
import type { Knobs } from '../../contract/knobs.ts'

export function keyRoles(knobs: Knobs): { readonly role: string; readonly key: string }[] {
  const more = knobs['keys.more'].map((pair, index) => ({
    role: `more ${index + 1}`,
    key: pair.slice(0, pair.lastIndexOf(':')),
  }))
  return [{ role: 'handover', key: knobs['keys.handover'] }, { role: 'bot', key: knobs['keys.bot'] }, ...more]
}
