/** A help desk of functions where drivers cannot run. */
export function functionDriver(): never {
  throw new Error('`agent` of createSimulator needs Node: in a browser call the help desk itself and look at its page.')
}
