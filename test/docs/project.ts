/** Makes folders of a user: one in which modules import the package by name, and one to type the commands of a page in. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { BIN, type Program, startProgram } from '../cli/program.ts'
import { folderWith } from '../config/folder.ts'
import { pathOf, type RunResult, run } from './pages.ts'

type Files = Readonly<Record<string, string>>

/** Makes a folder below this repository, where modules import the built package by its name. */
export function moduleFolder(files: Files): string {
  const ignored = pathOf('.handover-sim')
  mkdirSync(ignored, { recursive: true })
  const folder = mkdtempSync(join(ignored, 'page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** Runs a program in JavaScript that imports the built package. */
export const runModule = (text: string): Promise<RunResult> =>
  run(process.execPath, [join(moduleFolder({ 'program.mjs': text }), 'program.mjs')])

/** Returns the output that the comments of a program promise. */
export const promisedOutput = (program: string): string[] =>
  [...program.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, output]) => output!)

export interface Project {
  readonly folder: string
  /** Types commands in bash; `code` resolves when every process that writes to the output has ended. */
  start(typed: string, env?: Files): Program
  type(typed: string, env?: Files): Promise<RunResult>
}

/** Makes a folder with files, in which `npx handover-sim` runs the built package. */
export function createProject(
  files: Readonly<Record<string, string | null>> = {},
  { env = {}, programs = {} }: { readonly env?: Files; readonly programs?: Files } = {},
): Project {
  const scripts = { npx: `#!/bin/sh\nshift\nexec '${process.execPath}' '${BIN}' "$@"\n`, ...programs }
  const onPath = folderWith(scripts)
  for (const name of Object.keys(scripts)) chmodSync(join(onPath, name), 0o755)
  const folder = folderWith(files)
  const PATH = `${onPath}:${process.env.PATH}`
  const start = (typed: string, more: Files = {}) =>
    startProgram(['bash', '--norc', '-euc', typed], { cwd: folder, env: { PATH, HOME: folder, ...env, ...more } })
  const type = async (typed: string, more: Files = {}) => {
    const { stdout, stderr, code } = start(typed, more)
    return { code: (await code) ?? -1, stdout: stdout.text, stderr: stderr.text }
  }
  return { folder, start, type }
}
