/** Lists the endings of files that users write, and the bounds of what one of them, or one snapshot, may cost. */
export const BUDGETS = {
  /** Bytes of a scenario, driver or config file. */
  fileBytes: 4 * 1_048_576,
  /** Bytes of a module. */
  moduleBytes: 64 * 1_048_576,
  /** Bytes of a journal, a snapshot, or a body. */
  stateBytes: 64 * 1_048_576,
  /** Bytes of a file that a scenario attaches. */
  attachmentBytes: 500 * 1_048_576,
  /** Values of a body of the control API: fields, and elements of lists. */
  bodyValues: 200_000,
  /** Fields of one object of such a body. */
  bodyFields: 10_000,
  /** Bytes of a form. */
  formBytes: 64 * 1_048_576,
  /** Bytes of a message with attachments in base64. */
  messageBytes: 16 * 1_048_576,
  /** Bytes of a scenario in a request: the parser of YAML takes a second for four times as many. */
  playBytes: 262_144,
  /** Values of a snapshot. */
  snapshotValues: 2_000_000,
  /** Levels of a snapshot: a journal in it contains bodies of calls, which may nest 200 levels deep. */
  snapshotNesting: 256,
  /** Problems of one file that are shown. */
  problems: 50,
  /** Files that scenarios include, in all. */
  includes: 1_000,
  /** Includes inside each other. */
  includeNesting: 32,
  /** Steps of a plan, repeats unrolled. */
  steps: 10_000,
  /** Steps, and what holds or includes steps, while a plan is unrolled. */
  expansions: 50_000,
  /** Combinations of a matrix. */
  instances: 1_000,
  /** Steps of all scenarios that are loaded together. */
  loadedSteps: 30_000,
  /** Names that are defined at one place: vars, or parameters of a part. */
  names: 1_000,
  /** Characters and parts of a value that placeholders make. */
  valueSize: 8 * 1_048_576,
  /** Characters and parts of all steps of a plan. */
  planSize: 64 * 1_048_576,
} as const
export const DATA_EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json']
export const MODULE_EXTENSIONS: readonly string[] = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
