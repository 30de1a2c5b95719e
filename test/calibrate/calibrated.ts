/** Calibrates by the lines of a recording. */
import { expect } from 'vitest'
import { Calibration, type CalibrationResult } from '../../src/evaluation/calibration/calibration.ts'
import { readRecording } from '../../src/evaluation/calibration/recording.ts'
import { defaultKnobs, type KnobName, type Knobs } from '../../src/platform/contract/knobs.ts'
import { DEFAULTS, SHOWN, SILENT } from './values.ts'

export async function calibrated(
  lines: readonly string[],
  inForce: Knobs = defaultKnobs(),
): Promise<CalibrationResult> {
  const calibration = new Calibration(inForce)
  await readRecording('traffic.jsonl', textOf(lines), calibration)
  return calibration.result()
}

export async function* textOf(lines: readonly string[]) {
  for (const line of lines) yield `${line}\n`
}

/** The results by the names of knobs and of assumptions without one. */
export const stateOf = ({ assumptions }: CalibrationResult) =>
  Object.fromEntries(assumptions.flatMap(({ behaviours }) => behaviours.map(one => [one.name, one])))

/** What is contradicted beside the names given. */
export const surprises = (result: CalibrationResult, ...expected: string[]) =>
  result.assumptions
    .flatMap(({ behaviours }) => behaviours)
    .filter(({ name, status }) => (status === 'contradicted' || status === 'changed') && !expected.includes(name))

/** Expects that a recording of the default platform confirms every default that is no silence. */
export async function confirmsDefaults(lines: readonly string[], unreadable: readonly string[] = []): Promise<void> {
  const result = await calibrated(lines)
  expect(surprises(result)).toEqual([])
  expect(result.findings.filter(({ kind }) => kind === 'difference')).toEqual([])
  const behaviours = stateOf(result)
  const names = SHOWN.flatMap(({ name, knobs }): readonly string[] => (knobs.length > 0 ? knobs : [name]))
  const missing = names.filter(
    name =>
      behaviours[name]!.status !== 'confirmed' && (!(name in DEFAULTS) || SILENT[name as KnobName] !== DEFAULTS[name]),
  )
  expect(missing.filter(name => !unreadable.includes(name))).toEqual([])
}
