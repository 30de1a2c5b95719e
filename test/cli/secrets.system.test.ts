/** A run whose agent driver starts a command that prints a secret. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { receiver } from '../webhooks/receiver.ts'
import { runCommand } from './fake-io.ts'

const TOKEN = 'dt-0099887766'

it('a secret that a command of the driver prints on stderr is in no report', async () => {
  const { url } = await receiver()
  const files = {
    's.yaml': 'version: 1\nname: One\nsteps: [{ press: handover }, { agent: accept }, { expect: start }]\n',
    'd.yaml': `version: 1\naccept: { exec: [${JSON.stringify(process.execPath)}, agent.mjs, $(env.DESK_TOKEN)] }\n`,
    'agent.mjs': 'console.error("refused", process.argv[2])\nprocess.exit(1)\n',
  }
  const reports = 'pretty,json=r.json,junit=r.xml,html=r.html,journal=r.jsonl,tap=r.tap'
  const argv = ['run', 's.yaml', '--port', '0', '--target', url, '--agent-driver', 'd.yaml', '--report', reports]
  const { code, out, err, cwd } = await runCommand(argv, { files, env: { DESK_TOKEN: TOKEN } })
  expect([code, out]).toEqual([1, expect.stringContaining('refused ***')])
  const written = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter(name =>
    statSync(join(cwd, name)).isFile(),
  )
  expect(written).toEqual(expect.arrayContaining(['r.json', 'r.xml', 'r.html', 'r.jsonl', 'r.tap']))
  for (const name of written) expect(readFileSync(join(cwd, name), 'utf8'), name).not.toContain(TOKEN)
  expect(out + err).not.toContain(TOKEN)
})
