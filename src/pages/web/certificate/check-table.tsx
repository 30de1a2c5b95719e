/** Lists all checks of a certificate by profile, with a filter by outcome and words. */

import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import type { Profile } from '../../../running/certifier/check.ts'
import { type CertificateReport, type CheckReport, measurementLines } from '../../../running/certifier/report.ts'
import { Mark } from '../components/mark.tsx'
import { FilterPlace, NothingPlace } from '../report/result-filter.tsx'
import { linkTo } from '../report/result-links.ts'
import { CHECK_OUTCOME_NAMES, markOf, outcomeParts, slugOf } from './outcomes.ts'

export interface CheckTableProps {
  readonly certificate: CertificateReport
  /** Those with a section of their own. */
  readonly notable: readonly CheckReport[]
}

export function CheckTable({ certificate, notable }: CheckTableProps) {
  const { checks, profiles } = certificate
  const chips = [{ outcome: 'all', text: 'all', count: checks.length }, ...outcomeParts(certificate)]
  return (
    <section id="checks" class="report-table" aria-labelledby="checks-title" tabIndex={-1}>
      <div class="result-tools">
        <h2 id="checks-title">All checks</h2>
        <FilterPlace chips={chips} noun="check" />
      </div>
      <table class="check-table">
        <thead>
          <tr>
            {['Outcome', 'Check', 'Level', 'Rules', 'Took'].map(name => (
              <th key={name} scope="col" class={name === 'Took' ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {profiles.map(profile => (
          <ProfileRows
            key={profile}
            profile={profile}
            checks={checks.filter(check => check.profile === profile)}
            notable={notable}
          />
        ))}
      </table>
      <NothingPlace noun="check" />
    </section>
  )
}

interface ProfileRowsProps {
  readonly profile: Profile
  readonly checks: readonly CheckReport[]
  readonly notable: readonly CheckReport[]
}

function ProfileRows({ profile, checks, notable }: ProfileRowsProps) {
  if (checks.length === 0) return null
  const passed = checks.filter(({ outcome }) => outcome === 'pass').length
  return (
    <tbody data-group={profile}>
      <tr class="check-profile">
        <th scope="rowgroup" colSpan={5}>
          {profile}{' '}
          <small>
            {passed} of {checks.length} passed
          </small>
        </th>
      </tr>
      {checks.map(check => (
        <CheckRow key={check.id} check={check} isLinked={notable.includes(check)} />
      ))}
    </tbody>
  )
}

interface CheckRowProps {
  readonly check: CheckReport
  readonly isLinked: boolean
}

function CheckRow({ check, isLinked }: CheckRowProps) {
  const { id, title, passes, outcome, level, rules, durationMs, reason } = check
  const name = `${id} ${title}`
  return (
    <tr class={outcome} data-outcome={outcome}>
      <td class="check-outcome">
        <Mark kind={markOf(outcome)} label="" /> {CHECK_OUTCOME_NAMES[outcome]}
      </td>
      <th scope="row">
        {isLinked ? <a href={linkTo(slugOf(check))}>{visible(name)}</a> : visible(name)}
        <small>{visible(outcome === 'pass' || isLinked || reason === null ? passes : reason)}</small>
        <Measurements check={check} />
      </th>
      <td>{level}</td>
      <td>
        {rules.map(rule => (
          <span key={rule} class="check-rule">
            {rule}{' '}
          </span>
        ))}
      </td>
      <td class="number">{durationMs === 0 ? '' : formatMs(durationMs)}</td>
    </tr>
  )
}

function Measurements({ check }: Pick<CheckRowProps, 'check'>) {
  const lines = measurementLines(check)
  if (lines.length === 0) return null
  return <small>{lines.map(visible).join('; ')}</small>
}
