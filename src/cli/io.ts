/** Defines the streams, signals and environment of a command, so that tests run commands without a process. */
export interface Output {
  write(text: string): void
  readonly isTTY: boolean
  /** Of the terminal, when it is one. */
  readonly columns?: number | undefined
}

export type Signal = 'SIGINT' | 'SIGTERM'

export interface Io {
  /** Data only. */
  readonly stdout: Output
  /** Talk. */
  readonly stderr: Output
  /** Everything on stdin, as text. */
  readStdin(): Promise<string>
  /** The same as it came, byte for byte. */
  readStdinBytes(): Promise<Uint8Array>
  /** Whether a person at the terminal can answer questions. */
  readonly canAsk: boolean
  /** Shows a question and resolves with the line typed. Rejects when aborted. */
  ask(question: string, signal: AbortSignal): Promise<string>
  readonly cwd: string
  readonly nodeVersion: string
  /** Calls back for every signal until undone. */
  onSignal(listener: (signal: Signal) => void): () => void
  /** Ends the process now, whatever is under way. */
  exit(code: number): void
}

export interface Context {
  readonly io: Io
  readonly env: Readonly<Record<string, string | undefined>>
}

export const SIGNAL_CODES: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 }
