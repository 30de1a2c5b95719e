/** Which exit code an error means, and what of it a user gets to read. */
import type { Io } from './io.ts'

/** Something around us is not as needed: a target that is not there, a time that ran out. Exit code 3. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

/** A flag or argument that cannot be. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** By name, so that no command has to load what it does not use. */
const EXPECTED: Readonly<Record<string, number>> = {
  UsageError: 2,
  ConfigError: 2,
  InvalidOptionError: 2,
  ListenError: 3,
  PortInUseError: 3,
  EnvironmentError: 3,
}

/** What the user can mend is one line; anything else is our fault and shows its stack. */
export function reportError(error: unknown, { stderr }: Io): number {
  if (!(error instanceof Error)) {
    stderr.write(`Unexpected: ${String(error)}\n`)
    return 3
  }
  const code = EXPECTED[error.name]
  stderr.write(code === undefined ? `Unexpected: ${error.stack ?? error.message}\n` : `${error.message}\n`)
  return code ?? 3
}
