/** Shows the limits of a certificate: what was not exercised, what was varied, and what it does not show. */

import { groupBy } from '../../../base/objects.ts'
import { counted } from '../../../base/text/quantities.ts'
import { visible } from '../../../base/text/terminal-text.ts'
import { PROFILES } from '../../../running/certifier/check.ts'
import type { CertificateReport, CheckReport } from '../../../running/certifier/report.ts'

interface CertificateProps {
  readonly certificate: CertificateReport
}

/** Checks by the reason why nothing is known about them. */
export function NotExercised({ certificate: { checks, profiles, isPartial, expectations } }: CertificateProps) {
  const open = checks.filter(({ outcome }) => outcome === 'inconclusive' || outcome === 'not_applicable')
  const reasons = [...groupBy(open, ({ reason }) => reason ?? '').entries()].map(([reason, group]) => ({
    reason,
    names: group.map(({ id }) => id),
  }))
  const leftOut = PROFILES.filter(profile => !profiles.includes(profile))
  const passing = expectations.filter(({ status }) => status === 'passed').map(({ check }) => check)
  const rows = [
    ...reasons,
    ...(leftOut.length === 0
      ? []
      : [{ reason: 'The profile was not checked: pass --profile, or an agent driver.', names: leftOut }]),
    ...(isPartial ? [{ reason: 'Checks were left out with --only, --skip or --profile.', names: [] }] : []),
    ...(passing.length === 0
      ? []
      : [
          {
            reason: 'It was expected to fail and passes: remove it from the file of expected failures.',
            names: passing,
          },
        ]),
  ]
  if (rows.length === 0) return null
  return (
    <section class="report-table" aria-labelledby="open-title">
      <h2 id="open-title">What was not exercised</h2>
      <table class="causes">
        <tbody>
          {rows.map(({ reason, names }) => (
            <tr key={reason}>
              <th scope="row">{visible(reason)}</th>
              <td>{names.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The values of each knob that occurred beside its default, with the number of checks. */
export function Varied({ certificate: { checks, rotates } }: CertificateProps) {
  const rows = variedRows(checks)
  if (!rotates || rows.length === 0) return null
  return (
    <section aria-labelledby="varied-title">
      <h2 id="varied-title">What was varied</h2>
      <details class="check-varied">
        <summary>
          {counted(rows.length, 'behaviour')} that the platform's description leaves open. Each check has a choice of
          its own.
        </summary>
        <ul>
          {rows.map(({ knob, values }) => (
            <li key={knob}>
              <code>{visible(knob)}</code>{' '}
              {[...values].map(([value, count]) => `${visible(value)} in ${counted(count, 'check')}`).join(', ')}
            </li>
          ))}
        </ul>
      </details>
    </section>
  )
}

function variedRows(checks: readonly CheckReport[]) {
  const all = checks.flatMap(({ rotated }) =>
    Object.entries(rotated).map(([knob, value]) => ({ knob, value: String(value) })),
  )
  return [...groupBy(all, ({ knob }) => knob)].map(([knob, group]) => ({
    knob,
    values: new Map([...groupBy(group, ({ value }) => value)].map(([value, same]) => [value, same.length])),
  }))
}

const LIMITS = {
  platform:
    'That the real platform behaves as its description says, or only in the ways that were varied here. Where nobody knows, the simulator assumes something.',
  scale: 'That the intermediary serves more chats at once than the checks open, or runs for weeks.',
  security: 'That it is secure: the checks know common mistakes with signatures and keys, not every attack.',
  desk: 'Anything about the help desk, except what the agent driver shows.',
  later: 'That a later version is as good: certify in CI, and attach the certificate to each release.',
}

export const NotShown = () => (
  <section aria-labelledby="limits-title">
    <h2 id="limits-title">What this certificate does not show</h2>
    <ul class="certificate-limits">
      {Object.values(LIMITS).map(text => (
        <li key={text}>{text}</li>
      ))}
    </ul>
    <p class="report-left-out">
      <code>docs/certification.md</code> of the package says more: what the outcomes and levels mean, and what is
      varied.
    </p>
  </section>
)
