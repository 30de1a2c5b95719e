/** Runs asynchronous work one after the other, in Node and in the page. */

/** Work also runs after one has failed. */
export function createSequence(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}
