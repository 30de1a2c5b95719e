/** Measures functions in alternate slices, so that other work on the machine affects all of them alike. */

/** The first slice of each is not counted: it warms up. Returns the median of the others in microseconds per call. */
export async function alternately(slices, functions) {
  const found = Object.fromEntries(Object.keys(functions).map(name => [name, []]))
  for (let slice = 0; slice <= slices; slice++)
    for (const [name, { count, call, before, after }] of Object.entries(functions)) {
      before?.()
      const took = await microseconds(count, call)
      after?.()
      if (slice > 0) found[name].push(took)
    }
  return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, median(values)]))
}

async function microseconds(count, call) {
  const from = performance.now()
  for (let i = 0; i < count; i++) await call()
  return ((performance.now() - from) / count) * 1000
}

const median = values => values.toSorted((a, b) => a - b)[values.length >> 1]
