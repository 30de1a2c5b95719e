/** What `handover-sim load`, and `report` of its results, refuse. */
import { expect, it } from 'vitest'
import { runCommand } from '../cli/fake-io.ts'
import { HANDOVER, PLAIN, scenario } from './scenarios.ts'

const FILES = {
  'plain.yaml': PLAIN,
  'virtual.yaml': scenario('Virtual', HANDOVER, 'clock: virtual\nvars: { text: Hi }\n'),
  'hours.yaml': scenario('Away', '  - agent: away\n  - expect: { availability: { availability: CLOSED } }\n'),
  'restart.yaml': scenario('Restart', '  - target: restart\n  - check: { status: bot }\n'),
  'team.yaml': scenario('Team', HANDOVER, 'vars: { text: $(env.TEAM_OF_NO_ONE) }\n'),
  'fixed.yaml': scenario('Fixed', HANDOVER, 'chat: { user: { id: same } }\nvars: { text: Hi }\n'),
}
const RATE = '--self-test --arrivals 5/s'

it.each([
  ['plain.yaml --self-test', 'load needs --arrivals, such as --arrivals 5/s'],
  ['plain.yaml --self-test --arrivals 5', '--arrivals must be a rate such as 50/s, or 0..200/s over 2m'],
  [`plain.yaml ${RATE} --fail-if ack.p98>1s`, '--fail-if there is no metric ack.p98'],
  [`plain.yaml ${RATE} --for 5s --warm-up 5s`, '--warm-up must be shorter'],
  ['plain.yaml --self-test --arrivals 1/s_for_3s,2/s --find-limit', '--find-limit begins with one rate'],
  [`nothing.yaml ${RATE}`, 'nothing.yaml'],
  [`virtual.yaml ${RATE}`, '"Virtual" cannot run beside itself: its clock is virtual'],
  [`hours.yaml ${RATE}`, '"Away" cannot run beside itself: it needs the whole help desk'],
  [`restart.yaml ${RATE}`, '"Restart" cannot run beside itself: it needs the whole help desk (target restart'],
  [`fixed.yaml ${RATE}`, '"Fixed" cannot run beside itself: its user has a fixed id'],
  [`team.yaml ${RATE}`, '"Team": '],
  ['plain.yaml --target http://127.0.0.1:9/webhook --arrivals 5/s', 'needs an agent driver with accept'],
])('load %s', async (line, message) => {
  const args = line.split(' ').map(arg => arg.replaceAll('_', ' '))
  const { code, err } = await runCommand(['load', ...args, '--no-own-limit', '--port', '0'], { files: FILES })
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})
