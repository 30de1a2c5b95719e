/** Defines the errors of commands, their exit codes and how they are printed. */
import type { Io } from './io.ts'

/** The environment is not ready: the target is unreachable, or a time limit passed. Exit code 3. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

/** A flag or an argument is invalid. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit codes by the name of the error: a command does not load classes that it does not use. */
const EXPECTED: Readonly<Record<string, number>> = {
  UsageError: 2,
  ConfigError: 2,
  InvalidOptionError: 2,
  ListenError: 3,
  PortInUseError: 3,
  EnvironmentError: 3,
}

/** Prints an error of the user as its message, and any other as an internal error with its stack. Returns the exit code. */
export function reportError(error: unknown, { stderr }: Io): number {
  if (!(error instanceof Error)) {
    stderr.write(`Internal error of handover-sim: ${String(error)}\n`)
    return 3
  }
  const code = EXPECTED[error.name]
  stderr.write(
    code === undefined ? `Internal error of handover-sim: ${error.stack ?? error.message}\n` : `${error.message}\n`,
  )
  return code ?? 3
}
