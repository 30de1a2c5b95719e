// @ts-check

/**
 * Writes one line per event on stderr. Names in it come from outside: without the replacement, a
 * line break in an event name could fake a second line.
 * @param {string} event contains no key and no text of a user
 */
export function log(event) {
  const line = event.replace(/\p{Cc}+/gu, ' ').slice(0, 500)
  console.error(`${new Date().toISOString()} ${line}`)
}
