/** Shows how far an exploration is. */
import { counted } from '../../../base/text/quantities.ts'
import { useUi } from './ui-state.ts'

export function ExplorationCounts() {
  const { exploration, catalogue } = useUi()
  if (exploration.value === null) return null
  const { conversations, acts, situations, shortening, ended } = exploration.value
  const failures = counted(catalogue.value?.scenarios.length ?? 0, 'failure')
  const counts = [counted(conversations, 'conversation'), counted(acts, 'act'), counted(situations, 'situation')]
  const state = ended ?? (shortening === null ? 'Exploring' : `Shortening ${shortening}`)
  return <>{`${state}: ${counts.join(', ')}; ${failures}`}</>
}
