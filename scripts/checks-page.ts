/** Generates the index of the checks of a certification, and what it varies. */

import { keysOf } from '../src/base/objects.ts'
import { type CheckDefinition, PROFILES, type Profile } from '../src/running/certifier/check.ts'
import { CHECKS } from '../src/running/certifier/checks/index.ts'
import { NOT_ROTATED, type NotRotated, ROTATED } from '../src/running/certifier/rotation.ts'
import { cell } from './generated-blocks.ts'

const PROFILE_TEXTS: Readonly<Record<Profile, string>> = {
  webhook: 'Needs only the URL of the webhook.',
  flow: 'Needs an [agent driver](../driver.md) too.',
  resilience: 'Faults of the platform, load, and restarts. Needs an agent driver too.',
}

const NOT_ROTATED_TEXTS: Readonly<Record<NotRotated, string>> = {
  recommended: 'a check warns where another value refuses',
  documented: "the platform's public documentation states it",
  setting: 'a setting of the workspace',
  own_check: 'a check sets it',
  more_lenient: 'another value only forgives more',
  changes_flow: 'with another value a correct intermediary acts differently',
}

const rowOf = ({ id, level, rules, title }: CheckDefinition): string =>
  `| [${id}](${id}.md) | ${cell(title)} | ${level} | ${rules.join(', ')} |`

const sectionOf = (profile: Profile): string[] => [
  `## ${profile}`,
  '',
  PROFILE_TEXTS[profile],
  '',
  '| check | what it shows | level | rules |',
  '|---|---|---|---|',
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
    'What `handover-sim certify` checks. The page of a check says what it means, how it goes wrong, and how to fix it.',
    '`handover-sim certify --list` prints what each sends, observes and demands. MUST follows from the description of the platform or',
    'from its public documentation (PUB); SHOULD is good practice (GP); INFO is a fact. Rules are those of',
    '[platform.md](../platform.md); [certification](../certification.md) explains outcomes and levels.',
    '',
    ...PROFILES.flatMap(sectionOf),
    '## What is varied',
    '',
    'Each check has values of its own for these [assumptions](../assumptions.md), chosen by the seed.',
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
