/** Runs `handover-sim explore` as a user does, in this process, against the example with a bug, which the command starts. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { generateSequence } from '../../src/running/explorer/generate.ts'
import { type ActSequence, inModel } from '../../src/running/explorer/model.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { NON_INTERACTIVE, writeDriver } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'
import { ALL } from './vocabulary.ts'

interface Explored {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function command(cwd: string, ...args: string[]): Promise<Explored> {
  const [stdout, stderr] = [fakeOutput(), fakeOutput()]
  const code = await main(args, {}, { ...NON_INTERACTIVE, cwd, stdout, stderr })
  return { code, stdout: stdout.text, stderr: stderr.text }
}

export const explore = (cwd: string, ...flags: string[]) => command(cwd, 'explore', '--port', '0', ...flags)

const FOLDERS: string[] = []
afterAll(() => {
  for (const folder of FOLDERS) rmSync(folder, { recursive: true, force: true })
})

/** Not `folderWith`, because tests that run at the same time share its clean-up. */
export function newFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-explore-'))
  FOLDERS.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** The flags that name the example with this bug, which the command starts. */
export async function against(folder: string, bug: Parameters<typeof writeDriver>[2]): Promise<string[]> {
  const port = await freePort()
  return ['--target', `http://127.0.0.1:${port}/webhook`, '--agent-driver', writeDriver(folder, port, bug)]
}

export const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** The seed of the shortest of many conversations that has what the bug needs. */
function seedWith(has: (sequence: ActSequence) => boolean): number {
  const sequences = Array.from({ length: 3_000 }, (_, index) => generateSequence(index + 1, ALL))
  const [shortest] = sequences.filter(has).sort((a, b) => a.acts.length - b.acts.length)
  return shortest!.seed
}

/** Human pace keeps the acts of the conversation apart, so that it fails in the same way whenever it is run. */
export const DIGITS = seedWith(({ acts, knobs }) => {
  const some = inModel({ acts })
  const isDigits = ({ act, before }: (typeof some)[number]) =>
    act.text?.kind === 'digits' && /^\d{3,10}$/.test(act.text.value) && before.chats[act.chat]?.status === 'agent'
  const isPlain = some.every(({ act }) => act.fault === undefined && act.pace === 'human' && act.kind !== 'restart')
  return isPlain && Object.keys(knobs).length === 0 && some.some(one => one.act.kind === 'user' && isDigits(one))
})
