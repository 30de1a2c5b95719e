/** Shows the level of a certificate, the counts, and how the run was made. */
import type { ComponentChildren } from 'preact'
import { counted } from '../../../base/text/quantities.ts'
import { formatMs, visible } from '../../../base/text/terminal-text.ts'
import { type CertificateReport, levelTexts } from '../../../running/certifier/report.ts'
import { Mark } from '../components/mark.tsx'
import { moment } from '../model/formats.ts'
import { Fact, OutcomeBar } from '../report/result-parts.tsx'
import { outcomeParts } from './outcomes.ts'

interface CertificateProps {
  readonly certificate: CertificateReport
}

/** `Level resilient`, `No level: 2 of 40 checks failed`. */
export function levelHeading({ level, counts, checks, levelObstacle }: CertificateReport): string {
  if (level !== null) return `Level ${level}`
  const all = counted(checks.length, 'check')
  if (counts.fail > 0) return `No level: ${counts.fail} of ${all} failed`
  return levelObstacle === 'unmet' ? 'No level yet' : 'No level'
}

export function CertificateOverview({ certificate }: CertificateProps) {
  const { levelText, stopped, level, counts } = certificate
  const tone = level !== null ? 'pass' : counts.fail > 0 ? 'fail' : 'skipped'
  const parts = outcomeParts(certificate)
  return (
    <header class="certificate-head">
      <p class="report-brand">
        handover-sim <span>certificate</span>
      </p>
      <h1 class={tone}>{levelHeading(certificate)}</h1>
      <p class="certificate-meaning">{visible(levelText)}</p>
      {stopped === null ? null : (
        <p class="report-stopped">
          <strong>Stopped early.</strong> {visible(stopped)}
        </p>
      )}
      <OutcomeBar parts={parts} />
      <p class="certificate-counts">
        {parts.map(({ outcome, count, text }) => (
          <span key={outcome} class={outcome}>
            <b>{count}</b> {text}
          </span>
        ))}
      </p>
      <Levels certificate={certificate} />
      <RunFacts certificate={certificate} />
    </header>
  )
}

/** All levels, so that a reader knows what the one that is reached leaves open. */
function Levels({ certificate: { level } }: CertificateProps) {
  const levels = levelTexts()
  const reached = levels.findIndex(one => one.level === level)
  return (
    <ol class="certificate-levels" aria-label="Levels">
      {levels.map(({ level: name, meaning }, index) => (
        <li key={name} class={index <= reached ? 'pass' : 'skipped'}>
          <Mark kind={index <= reached ? 'pass' : 'skipped'} label={index <= reached ? 'reached' : 'not reached'} />
          <div>
            <b>{name}</b> <small>{meaning}</small>
          </div>
        </li>
      ))}
    </ol>
  )
}

function RunFacts({ certificate }: CertificateProps) {
  const { target, profiles, seed, startedAt, durationMs, version, machine, limits, exitCode, exitText } = certificate
  return (
    <dl class="report-facts">
      <Fact name="Target">{visible(target)}</Fact>
      <Fact name="Profiles">{profiles.join(', ')}</Fact>
      <Fact name="Seed">{seed}</Fact>
      <Fact name="Started">{moment(startedAt)}</Fact>
      <Fact name="Took">{formatMs(durationMs)}</Fact>
      <Fact name="handover-sim">{visible(version)}</Fact>
      <Fact name="Node">{visible(`${machine.node}, ${machine.os}`)}</Fact>
      <Fact name="Acknowledgement within">{formatMs(limits.ackMs)}</Fact>
      <Fact name="Observed for">{formatMs(limits.quietMs)}</Fact>
      <MoreFacts certificate={certificate} />
      <Fact name="Exit code">{[String(exitCode), visible(exitText)].filter(Boolean).join(', ')}</Fact>
    </dl>
  )
}

/** What restricts the meaning of the results. */
function MoreFacts({ certificate: { rotates, missing } }: CertificateProps): ComponentChildren {
  return (
    <>
      {rotates ? null : <Fact name="Unspecified behaviour">not varied</Fact>}
      {missing.length === 0 ? null : <Fact name="Without">{missing.join(', ')}</Fact>}
    </>
  )
}
