/** `--self-test`: the built-in reference intermediary in place of the user's, on a port of its own. */
import { UsageError } from '../errors.ts'
import type { RunFlags } from './flags.ts'

/** It brings both sides itself. */
export function checkSelfTest(flags: RunFlags): void {
  if (!flags.selfTest) return
  const other = flags.target !== undefined ? '--target' : flags.agentDriver !== undefined ? '--agent-driver' : null
  if (other !== null) throw new UsageError(`--self-test plays against the built-in intermediary: leave out ${other}.`)
}
