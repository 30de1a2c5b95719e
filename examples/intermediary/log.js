// @ts-check

/**
 * One line per happening, on stderr. Names in it come from outside: without the replacement a line
 * break in an event name could fake a second log line.
 * @param {string} happening never a key, never what a user wrote
 */
export function log(happening) {
  const line = happening.replace(/\p{Cc}+/gu, ' ').slice(0, 500)
  console.error(`${new Date().toISOString()} ${line}`)
}
