/** Defines the errors of a port that cannot be opened. */
/** The process that listens on a port. */
export interface PortHolder {
  readonly pid: number
  readonly name: string
}

/** The server cannot listen on the address. The cause is the environment, not an option or a file. */
export class ListenError extends Error {
  override readonly name: string = 'ListenError'
  readonly host: string
  readonly port: number
  constructor(host: string, port: number, why: string) {
    super(`Failed to listen on ${host}:${port}: ${why}.`)
    this.host = host
    this.port = port
  }
}

/** Another process listens on the port. */
export class PortInUseError extends ListenError {
  override readonly name = 'PortInUseError'
  /** The process that listens on the port; null when it is unknown. */
  readonly holder: PortHolder | null
  constructor(host: string, port: number, holder: PortHolder | null) {
    const by = holder === null ? '' : ` by ${holder.name} (process ${holder.pid})`
    super(host, port, `the port is in use${by}; stop that process, or choose another port (0 means any free one)`)
    this.holder = holder
  }
}
