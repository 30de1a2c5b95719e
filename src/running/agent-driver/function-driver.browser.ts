/** Replaces `function-driver.ts` in a browser, where drivers cannot run. */
export function functionDriver(): never {
  throw new Error('`agent` of createSimulator needs Node. In a browser, call the help desk directly and read its page.')
}
