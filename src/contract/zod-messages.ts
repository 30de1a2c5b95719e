/**
 * Zod shares its settings over the whole process: whoever loads another copy of it, or sets a language, changes the
 * messages of ours. Errors are put into words here, so a parse whose issues are explained asks for none.
 */

/** What the message of an issue is when the schema has no words of its own. */
export const ZOD_CODE = 'Invalid input'

/** Second argument of `safeParse`. */
export const ZOD_MESSAGES = { error: () => ZOD_CODE }
