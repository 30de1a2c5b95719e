/** Replaces `load.ts` in browsers, where no server can listen. */
export const loadRecorder = undefined
