/** Reads the message and the system code of a thrown value. */

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of an error of the operating system, such as `ENOENT`. */
export const systemCodeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
