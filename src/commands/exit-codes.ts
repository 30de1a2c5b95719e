/** What each exit code of the program means, for the help and docs/reference/cli.md. */
export const EXIT_CODES: readonly (readonly [codes: string, meaning: string])[] = [
  ['0', 'done; what was judged has passed'],
  ['1', 'an expectation failed, a MUST is broken, a signature is wrong, or the webhook did not acknowledge'],
  ['2', 'a flag, a variable or a file is wrong; stderr names the place and the fix'],
  [
    '3',
    'the environment: the port is taken, nothing answers, the intermediary or the driver is not there, or the driver reads the inbox wrongly',
  ],
  ['4', 'no result: nothing ran, nothing could be determined, or the run stopped before its end'],
  ['70', 'an internal error of handover-sim: please report it; it proves nothing about the intermediary'],
  ['129, 130, 143', 'stopped by SIGHUP, SIGINT, SIGTERM'],
]
