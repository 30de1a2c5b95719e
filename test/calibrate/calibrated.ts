/** Calibrates by the lines of a recording. */
import { Calibration, type CalibrationResult } from '../../src/evaluation/calibration/calibration.ts'
import { readRecording } from '../../src/evaluation/calibration/recording.ts'
import { defaultKnobs, type Knobs } from '../../src/platform/contract/knobs.ts'

export async function calibrated(
  lines: readonly string[],
  inForce: Knobs = defaultKnobs(),
): Promise<CalibrationResult> {
  const calibration = new Calibration(inForce)
  calibration.beginRecording()
  await readRecording('traffic.jsonl', textOf(lines), calibration)
  return calibration.result()
}

async function* textOf(lines: readonly string[]) {
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
