/** Generates the index of the checks of a certification, and what it varies. */

import { keysOf } from '../src/base/objects.ts'
import { type CheckDefinition, PROFILES, type Profile } from '../src/running/certifier/check.ts'
import { CHECKS } from '../src/running/certifier/checks/index.ts'
import { NOT_ROTATED, type NotRotated, ROTATED } from '../src/running/certifier/rotation.ts'

const cell = (text: string) => text.replaceAll('|', '\\|')

const PROFILE_TEXTS: Readonly<Record<Profile, string>> = {
  webhook: 'Needs only the URL of the webhook.',
  flow: 'Needs an [agent driver](../driver.md) too, which acts as the human agent.',
  resilience: 'Faults of the platform, load, and restarts of the intermediary.',
}

const NOT_ROTATED_TEXTS: Readonly<Record<NotRotated, string>> = {
  recommended: 'the platform recommends what another value requires, so a check warns',
  documented: "the platform's public documentation states it",
  setting: 'a choice of the workspace, not a gap',
  own_check: 'a check of its own sets it',
  more_lenient: 'another value only forgives more',
  changes_flow:
    'with another value a correct intermediary acts differently, so a check could not tell right from wrong',
}

const rowOf = ({ id, level, rules, title, sends, passes }: CheckDefinition): string => {
  const cells = [`[${id}](${id}.md)`, title, level, rules.join(', '), sends, passes]
  return `| ${cells.map(cell).join(' | ')} |`
}

const sectionOf = (profile: Profile): string[] => [
  `## ${profile}`,
  '',
  PROFILE_TEXTS[profile],
  '',
  '| check | what it shows | level | rules | sends | passes |',
  '|---|---|---|---|---|---|',
  ...CHECKS.filter(check => check.profile === profile).map(rowOf),
  '',
]

const valueText = (value: unknown) => (Array.isArray(value) ? `[${value.join(', ')}]` : String(value))

const rotatedRow = (name: keyof typeof ROTATED): string =>
  `| \`${name}\` | ${ROTATED[name].map(value => `\`${valueText(value)}\``).join(', ')} |`

const notRotatedRow = (why: NotRotated): string => {
  const names = keysOf(NOT_ROTATED).filter(name => NOT_ROTATED[name] === why)
  return `| ${NOT_ROTATED_TEXTS[why]} | ${names.map(name => `\`${name}\``).join(', ')} |`
}

export const checksPage = (): string =>
  [
    '# The checks',
    '',
    'What `handover-sim certify` checks. Each has a page: what it means, how it goes wrong, how to fix it;',
    '`handover-sim certify --explain SIG-07` prints it. MUST follows from the description of the platform or from its public',
    'documentation of signatures (PUB); SHOULD is good practice (GP); INFO is a fact without a judgement. Rules are those of',
    '[platform.md](../platform.md). [Certification](../certification.md) explains the outcomes and the levels.',
    '',
    ...PROFILES.flatMap(sectionOf),
    '## What is varied',
    '',
    "The platform's description leaves these behaviours open ([assumptions](../assumptions.md)). Each check has values of its",
    'own, chosen by the seed.',
    '',
    '| knob | values |',
    '|---|---|',
    ...keysOf(ROTATED).map(rotatedRow),
    '',
    'Other knobs keep their values:',
    '',
    '| why | knobs |',
    '|---|---|',
    ...keysOf(NOT_ROTATED_TEXTS).map(notRotatedRow),
    '',
  ].join('\n')
