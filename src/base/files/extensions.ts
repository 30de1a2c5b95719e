/** Names the endings of files that users write. */
export const DATA_EXTENSIONS: readonly string[] = ['.yaml', '.yml', '.json']
export const MODULE_EXTENSIONS: readonly string[] = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
