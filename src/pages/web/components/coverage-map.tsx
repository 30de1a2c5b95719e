/** Shows how often an exploration tried each act in each state of a chat, and how often a conversation failed there. */
import './coverage-map.css'
import type { Coverage } from '../../../running/explorer/situations.ts'
import { Mark } from './mark.tsx'

export function CoverageMap({ columns, rows }: Coverage) {
  const most = Math.max(1, ...rows.flatMap(({ cells }) => cells.map(cell => cell?.times ?? 0)))
  return (
    <section class="coverage-map" aria-labelledby="coverage-title">
      <h2 id="coverage-title">Acts tried in each state of a chat</h2>
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
