/** What `complete` answers to a shell. */
import { expect, it } from 'vitest'
import { runCommand } from './fake-io.ts'

const FILES = { 'driver.yaml': '', '.hidden': '', scenarios: null, 'scenarios/own.yaml': '' }

/** The values that a shell is given for the last of these words, and how it treats them. */
async function complete(...words: string[]): Promise<{ values: string[]; directive: string | undefined }> {
  const { code, out } = await runCommand(['complete', '--', ...words], { files: FILES })
  expect(code).toBe(0)
  const values = (out.match(/^.+$/gm) ?? []).map(line => line.split('\t')[0]!)
  return { directive: values.pop(), values }
}

it.each([
  ['ce', ['certify']],
  ['--ver', ['--version']],
  ['certify --on', ['--only']],
  ['certify --profile w', ['webhook']],
  ['certify --only SIG-0', Array.from({ length: 9 }, (_, index) => `SIG-0${index + 1}`)],
  ['certify --explain=SIG-01', ['--explain=SIG-01']],
  ['run --set typing.webhook=', ['typing.webhook=echo', 'typing.webhook=off']],
  ['run --skip happy', ['happy-path']],
  ['run --tag ', ['smoke', 'flow', 'robustness']],
  ['run builtin:happy', ['builtin:happy-path.yaml']],
  ['run scenarios/', ['scenarios/own.yaml']],
  ['run no-such-folder/', []],
  ['run --agent-driver d', ['driver.yaml']],
  ['run --report pretty,j', ['pretty,json=', 'pretty,junit=', 'pretty,journal=']],
  ['start --output ', ['pretty', 'compact', 'quiet']],
  ['trigger MESSAGE', ['MESSAGE FROM USER']],
  ['trigger X --fault d', ['delay=', 'duplicate=', 'drip=']],
  ['exec -- npm ', []],
  ['no-such-command ', []],
])('"%s" may be one of %j', async (line, expected) => {
  expect((await complete(...line.split(' '))).values).toEqual(expected)
})

it('offers a flag once, unless it may be repeated', async () => {
  expect((await complete('run', '--list', '--li')).values).toEqual([])
  expect((await complete('run', '--tag', 'smoke', '--ta')).values).toEqual(['--target', '--tag'])
})

it('lets the shell add a space after what is whole', async () => {
  expect((await complete('run', '--report', 'ht')).directive).toBe(':6')
  expect((await complete('run', '--report', 'pr')).directive).toBe(':4')
  expect((await complete('run', 'scen')).directive).toBe(':6')
})

it.each(['bash', 'zsh'])('prints the script of %s', async shell => {
  const { code, out } = await runCommand(['complete', shell])
  expect([code, out]).toEqual([0, expect.stringMatching(/handover-sim complete '?--/)])
})
