/** Lets CommonJS bundles use globals of Node that a test environment hides, as those of Jest with jsdom do. */

import type { Plugin } from 'rolldown'

/** Globals that jsdom does not have. Jest adds none of Node. */
const HIDDEN = [
  'BroadcastChannel',
  'clearImmediate',
  'DecompressionStream',
  'fetch',
  'Headers',
  'MessageChannel',
  'MessagePort',
  'ReadableStream',
  'Request',
  'Response',
  'setImmediate',
  'structuredClone',
  'TextDecoder',
  'TextDecoderStream',
  'TextEncoder',
  'TransformStream',
  'WritableStream',
]

/** Replaces each use of these globals, also in bundled packages. Node loads some of them when they are first read. */
export const hiddenGlobals: Record<string, string> = Object.fromEntries(
  HIDDEN.map(name => [name, `nodeGlobals.${name}`]),
)

/** Goes before the code of each chunk. Without `setImmediate`, the code runs in an environment that hides globals. */
export const GLOBALS_INTRO = `const nodeGlobals = typeof setImmediate === 'undefined' ? unhiddenGlobals() : globalThis
function unhiddenGlobals() {
  const node = require('node:vm').runInThisContext('globalThis')
  return new Proxy(globalThis, { get: (own, name) => own[name] ?? node[name] })
}`

const TIMERS = 'clearInterval, clearTimeout, setImmediate, setInterval, setTimeout'

/** Gives undici the timers of Node, because those of jsdom are numbers without `unref`, and fake ones do not elapse. */
export const timersOfNode = (): Plugin => ({
  name: 'timers-of-node',
  transform(code, id) {
    const isConcerned = /\/undici\/lib\/.*\.js$/.test(id) && /\b(clear|set)(Immediate|Interval|Timeout)\(/.test(code)
    if (!isConcerned || code.includes("require('node:timers')")) return null
    return code.replace(/^'use strict'\n/, directive => `${directive}const { ${TIMERS} } = require('node:timers')\n`)
  },
})
