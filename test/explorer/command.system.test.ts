/** Runs `handover-sim explore` as a user does: against the reference intermediary, and against one with a bug. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { actsOf } from '../mutants/conversation-bugs.ts'
import { readCtrf } from '../reporters/read-ctrf.ts'
import { against, command, DIGITS, explore, filesIn, newFolder } from './run-explore.ts'

// Most of the time of a run is waiting.
describe.concurrent('explore', () => {
  it('ends with exit code 0 and a summary when nothing fails', async () => {
    const cwd = newFolder()
    const flags = [
      '--self-test',
      '--conversations',
      '6',
      '--seed',
      '4',
      '--report',
      'json,junit=junit.xml,ctrf=ctrf.json',
    ]
    const { code, stdout, stderr } = await explore(cwd, ...flags)
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/6 conversations, \d+ acts, \d+ situations in .*, seed 4\./)
    expect(stderr).toMatch(/Acts tried in each state of a chat:\n +user +press +close +delete +accept +says/)
    expect(stderr).not.toMatch(/FAILED|Stopped/)
    const { scenarios, counts } = JSON.parse(stdout)
    expect(counts).toMatchObject({ pass: 1, fail: 0 })
    expect(scenarios).toHaveLength(1)
    expect(readFileSync(join(cwd, 'junit.xml'), 'utf8')).toContain('<testsuites')
    expect(readCtrf(readFileSync(join(cwd, 'ctrf.json'), 'utf8')).summary.tests).toBeGreaterThan(0)
    expect(filesIn(join(cwd, '.handover-sim/explore'))).toEqual([])
  })

  it('reports a bug with the shortest conversation, as a scenario that fails with it and passes without', async () => {
    const folder = newFolder()
    const where = await against(folder, 'takes-digits-for-a-code')
    const flags = ['--replay', String(DIGITS), '--out', 'found', '--report', 'json']
    const found = await explore(folder, ...where, ...flags)
    expect(found.code, found.stderr).toBe(1)
    expect(found.stderr).toContain(
      'FAILED INV-TEXT-TO-AGENT: A text of the user does not reach the agent: press, accept, user (digits)\n' +
        '  only with texts of the kind digits; failed 2 of 2 times\n' +
        '  found/a-text-of-the-user-does-not-reach-the-agent-press-accept-user-digits-',
    )
    const { scenarios } = JSON.parse(found.stdout)
    expect(scenarios.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['pass', 'fail'])

    const [name = '', ...others] = filesIn(join(folder, 'found'))
    expect(others).toEqual([])
    const file = `found/${name}`
    const yaml = readFileSync(join(folder, file), 'utf8')
    expect(yaml).toContain('# INV-TEXT-TO-AGENT: every text and file that a user writes')
    expect(yaml).toContain(`# The whole conversation again: npx handover-sim explore --replay ${DIGITS}\n`)
    const validated = await command(folder, 'validate', file)
    expect(validated.code, validated.stderr).toBe(0)
    expect((await command(folder, 'run', file, '--self-test', '--port', '0')).code).toBe(0)
    const again = await explore(folder, ...where, '--replay', file)
    expect(again.code, again.stderr).toBe(1)
    expect(again.stdout).toMatch(/3 scenarios in .*: 3 failed/)
  })

  it('remembers what failed and what was tried', async () => {
    const folder = newFolder()
    const where = await against(folder, 'leaves-at-the-word-stop')
    const acts = actsOf('press, accept, says:command=stop')
    const state = {
      version: 1,
      seed: 5,
      next: 12,
      situations: { 'bot | >press | human': [7, 1] },
      failing: [{ seed: 9, acts, knobs: {} }],
    }
    const cwd = newFolder({ 'state.json': JSON.stringify(state) })
    const flags = ['--state', 'state.json', '--conversations', '1', '--report', 'json=run.json']
    const { code, stdout, stderr } = await explore(cwd, ...where, ...flags)
    expect(code, stderr).toBe(1)
    expect(stderr).toMatch(/in conversation 9: looking for the shortest that fails, at most \d.* more/)
    expect(stdout).toContain('PASS explore > A plain conversation')
    expect(stdout).toMatch(/1 conversation in .*\. The plain one and the shortest of each failure: 1 passed, 1 failed/)
    expect(stderr).toMatch(/FAILED INV-TEXT-TO-USER: .*: press, accept, says \(command\)/)
    const stored = JSON.parse(readFileSync(join(cwd, 'state.json'), 'utf8'))
    expect(stored).toMatchObject({ version: 1, seed: 5, next: 12, failing: [{ seed: 9, acts, knobs: {} }] })
    expect(stored.situations['bot | >press | human']).toEqual([8, 1])
  })

  it('leaves out acts that the help desk refuses while start is being answered', async () => {
    const folder = newFolder()
    const where = await against(folder, 'records-calls-late')
    const driver = where.at(-1)!
    const { type: _, ...verbs } = JSON.parse(readFileSync(driver, 'utf8'))
    writeFileSync(driver, JSON.stringify(verbs))
    const flags = ['--conversations', '12', '--seed', '6', '--report', 'junit=junit.xml']
    const { code, stderr } = await explore(folder, ...where, ...flags)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('Not explored: type: the agent driver has no verb type.')
    expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toMatch(/<testcase name="type"(?:(?!testcase).)*<skipped/s)
    expect(stderr).toContain('Left out: acts while start is being answered: it fails in a plain conversation.')
  })
})
