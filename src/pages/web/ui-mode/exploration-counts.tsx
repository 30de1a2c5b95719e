/** Shows how far an exploration is. */
import { counted } from '../../../base/text/quantities.ts'
import { useUi } from './ui-state.ts'

export function ExplorationCounts() {
  const { exploration, catalogue } = useUi()
  if (exploration.value === null) return null
  const { conversations, acts, situations, doubted, shortening, ended } = exploration.value
  const confirmed = (catalogue.value?.scenarios.length ?? 0) - doubted
  const failures = `${counted(Math.max(0, confirmed), 'failure')}${doubted === 0 ? '' : `, ${doubted} not confirmed`}`
  const counts = [counted(conversations, 'conversation'), counted(acts, 'act'), counted(situations, 'situation')]
  const state = ended ?? (shortening === null ? 'Exploring' : `Shortening ${shortening}`)
  return <>{`${state}: ${counts.join(', ')}; ${failures}`}</>
}
