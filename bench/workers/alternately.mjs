/** Measures functions in alternate slices, so that other work on the machine affects all of them alike. */

/**
 * Calls `run` with each name once per slice. The order changes, because a slice leaves garbage for the next one: with an
 * even number of names, each one follows each other one equally often, if the number of slices is a multiple of theirs.
 */
export async function inChangingOrder(slices, names, run) {
  const count = names.length
  const order = names.map((_, at) => (at % 2 === 1 ? (at + 1) / 2 : count - at / 2))
  for (let slice = 0; slice < slices; slice++) for (const at of order) await run(names[(at + slice) % count], slice)
}

/** The first slice of each is not counted: it warms up. Returns the median of the others in microseconds per call. */
export async function alternately(slices, functions) {
  const names = Object.keys(functions)
  const found = Object.fromEntries(names.map(name => [name, []]))
  await inChangingOrder(slices + 1, names, async (name, slice) => {
    const took = await microseconds(functions[name])
    if (slice > 0) found[name].push(took)
  })
  return Object.fromEntries(names.map(name => [name, median(found[name])]))
}

async function microseconds({ count, call }) {
  const from = performance.now()
  for (let i = 0; i < count; i++) await call()
  return ((performance.now() - from) / count) * 1000
}

const median = values => values.toSorted((a, b) => a - b)[values.length >> 1]
