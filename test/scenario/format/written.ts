/** Writes scenario files to a folder, loads and compiles them as `run` does. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigError } from '../../../src/base/files/errors.ts'
import { compile } from '../../../src/evaluation/scenario/compile/compile.ts'
import type { LoadedScenario } from '../../../src/evaluation/scenario/format/scenario.ts'
import { loadScenarios } from '../../../src/evaluation/scenario/load/load.ts'
import { type Plan, type PlannedStep, stepsOf } from '../../../src/evaluation/scenario/plan.ts'

export type Files = Readonly<Record<string, string>>

export function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'handover-sim-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const asFiles = (written: string | Files): Files => (typeof written === 'string' ? { 's.yaml': written } : written)

export function load(written: string | Files, patterns?: readonly string[], nodeVersion = process.version) {
  const files = asFiles(written)
  return loadScenarios(patterns ?? [Object.keys(files)[0]!], { cwd: folderOf(files), nodeVersion })
}

export const plansOf = async (written: string | Files, patterns?: readonly string[]): Promise<Plan[]> =>
  compile(await load(written, patterns))

/** Of steps only, with a head in front. */
export const planOf = async (steps: string, head = ''): Promise<Plan> =>
  (await plansOf(`${HEAD}${head}steps:\n${steps}`))[0]!

export const HEAD = 'version: 1\nname: T\n'

export const allSteps = (plan: Plan): PlannedStep[] => [...stepsOf([...plan.steps, ...plan.finally])]

/** All problems as one text. */
export async function complaints(written: string | Files, patterns?: readonly string[]): Promise<string> {
  const error = await load(written, patterns).then(
    (loaded: LoadedScenario[]) => new Error(`nothing is wrong with ${loaded.length} scenarios`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof ConfigError) return error.message
  throw error
}
