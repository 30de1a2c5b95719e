/** Loads something at its first use. */

/** After a load that failed, such as without a free file descriptor, the next call loads again. */
export function lazily<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | null = null
  return () => {
    loading ??= load().catch(error => {
      loading = null
      throw error
    })
    return loading
  }
}
