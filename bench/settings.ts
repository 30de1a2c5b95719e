/** Defines what a run of the bench is given, by the flags of `npm run bench`. */

export interface Settings {
  /** The program that runs the servers, for instance another version of Node. */
  readonly node: string
  readonly quick: boolean
  readonly rounds: number
  /** How long one side of a round is under load. */
  readonly seconds: number
  /** The load on servers that have just started, in slices of `coldSeconds` each. It also warms them up. */
  readonly coldSlices: number
  readonly coldSeconds: number
}

/** Creates the settings of a measurement, or of a short look that is no measurement. */
export function createSettings({ quick, node }: { quick: boolean; node: string }): Settings {
  return quick
    ? { node, quick, rounds: 1, seconds: 1, coldSlices: 1, coldSeconds: 1 }
    : { node, quick, rounds: 7, seconds: 2, coldSlices: 3, coldSeconds: 2 }
}

/** Returns a smaller number for a quick look. */
export const fewer = ({ quick }: Settings, usual: number, few: number): number => (quick ? few : usual)
