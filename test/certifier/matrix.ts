/** For each bug the checks that it fails, without those of load and of restarts. */
export const MATRIX: Readonly<Record<string, readonly string[]>> = {}
