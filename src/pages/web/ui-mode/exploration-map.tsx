/** Shows how far an exploration is: its counts, and how often each act was tried in each state of a chat. */
import { counted } from '../../../base/text/quantities.ts'
import { Mark } from '../components/mark.tsx'
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

export function ExplorationMap() {
  const exploration = useUi().exploration.value
  if (exploration === null) return null
  const { columns, rows } = exploration
  const most = Math.max(1, ...rows.flatMap(({ cells }) => cells.map(cell => cell?.times ?? 0)))
  return (
    <section class="exploration-map" aria-label="Acts tried in each state of a chat">
      <h2>Acts tried in each state of a chat</h2>
      <table>
        <thead>
          <tr>
            <td />
            {columns.map(name => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ state, cells }) => (
            <tr key={state}>
              <th scope="row">{state}</th>
              {cells.map((cell, index) =>
                cell === null ? (
                  <td key={index} />
                ) : (
                  <td key={index} class="tried" style={{ '--share': `${(100 * cell.times) / most}%` }}>
                    {cell.times}
                    {cell.failures === 0 ? null : (
                      <>
                        {' '}
                        <Mark kind="fail" label="failed" />
                        {cell.failures}
                      </>
                    )}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
