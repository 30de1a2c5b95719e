/** Finds which unspecified behaviour of the platform decides that a check fails, by repeating it with fewer of them. */
import { defaultKnobs, formatKnobs } from '../contract/knobs.ts'
import type { CheckResult, DecisiveKnob } from './check.ts'
import type { Rotation } from './rotation.ts'
import { attemptsOf, isRefused } from './target-watch.ts'

/** The default of each knob, as text. */
export const INITIAL_KNOBS: Readonly<Record<string, unknown>> = formatKnobs(defaultKnobs())

export interface DecisiveOptions {
  /** A result that is not good. */
  readonly result: CheckResult
  /** Runs the check again, in new chats, with these knobs changed. */
  replay(rotation: Rotation): Promise<CheckResult>
}

/**
 * Empty when the check also fails with the defaults, when it passes a second time with the same values, and when no few
 * knobs decide. Several knobs decide together. Repeats the check at most `2 + 2 * log2(knobs)` times.
 */
export async function findDecisiveKnobs({ result, replay }: DecisiveOptions): Promise<DecisiveKnob[]> {
  const { rotated } = result
  const names = Object.keys(rotated)
  if (names.length === 0 || !isRepeatable(result)) return []
  const fails = async (changed: readonly string[]) => isSameFailure(result, await replay(rotationOf(rotated, changed)))
  // A failure that comes and goes has another cause.
  if ((await fails([])) || !(await fails(names))) return []
  const decisive = await narrow(names, fails)
  return decisive.length > MAX_DECISIVE
    ? []
    : decisive.map(knob => ({ knob, value: rotated[knob], initial: INITIAL_KNOBS[knob] }))
}

/** More would not tell a reader what to look at. */
const MAX_DECISIVE = 3

/** Halves the suspects as long as one half alone fails. */
async function narrow(
  names: readonly string[],
  fails: (changed: readonly string[]) => Promise<boolean>,
): Promise<readonly string[]> {
  if (names.length === 1) return names
  const middle = Math.ceil(names.length / 2)
  const [first, second] = [names.slice(0, middle), names.slice(middle)]
  if (await fails(first)) return narrow(first, fails)
  if (await fails(second)) return narrow(second, fails)
  return names
}

const rotationOf = (rotated: Readonly<Record<string, unknown>>, names: readonly string[]): Rotation =>
  Object.fromEntries(names.map(name => [name, rotated[name]]))

/** A target that does not answer, or has ended, fails with any behaviour of the platform. */
const isRepeatable = (result: CheckResult): boolean =>
  (result.outcome === 'fail' || result.outcome === 'warn') &&
  result.findings.every(({ code }) => code !== 'no-answer') &&
  !attemptsOf(result).some(isRefused)

const isSameFailure = ({ outcome, findings: [first] }: CheckResult, other: CheckResult): boolean =>
  other.outcome === outcome && other.findings.some(({ code }) => code === first?.code)
