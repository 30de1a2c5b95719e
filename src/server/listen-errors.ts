/** Why a port could not be opened, as errors a program can tell apart. */
/** The process that listens on a port. */
export interface PortHolder {
  readonly pid: number
  readonly name: string
}

/** The server cannot start here: a matter of the environment, not of options or files. */
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

/** Something else listens there. */
export class PortInUseError extends ListenError {
  override readonly name = 'PortInUseError'
  /** Who has it, when that could be found out. */
  readonly holder: PortHolder | null
  constructor(host: string, port: number, holder: PortHolder | null) {
    const by = holder === null ? '' : ` by ${holder.name} (process ${holder.pid})`
    super(host, port, `the port is taken${by}; stop it, or choose another port (0 means any free one)`)
    this.holder = holder
  }
}
