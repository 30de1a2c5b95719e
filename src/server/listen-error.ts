/** Says that a server cannot listen. It is apart from what opens the port, because browsers import these names. */

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
  /** `isSimulator`: another handover-sim answers there. */
  constructor(host: string, port: number, holder: PortHolder | null, isSimulator = false) {
    const stop = `end it with npx handover-sim stop --port ${port} (run and certify need no start beside them)`
    const name = isSimulator ? 'another handover-sim' : holder?.name
    const pid = holder === null ? '' : ` (process ${holder.pid})`
    const by = name === undefined ? '' : ` by ${name}${pid}`
    const cure = isSimulator ? stop : 'stop that process'
    super(host, port, `the port is in use${by}; ${cure}, or choose another port (0 means any free one)`)
    this.holder = holder
  }
}
