/** Lets CommonJS bundles use globals of Node that a test environment hides, as those of Jest with jsdom do. */

/** Globals that jsdom does not have, and signals, which must be of the same origin as `Request`. Jest adds none of Node. */
const HIDDEN = [
  'AbortController',
  'AbortSignal',
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

/**
 * Replaces each use of these globals, also in bundled packages. Node loads some of them when they are first read. The fake
 * timers of Jest also replace `queueMicrotask`, but not promises.
 */
export const hiddenGlobals: Record<string, string> = {
  ...Object.fromEntries(HIDDEN.map(name => [name, `nodeGlobals.${name}`])),
  queueMicrotask: 'queuePromise',
}

/** Goes before the code of each chunk. Without `setImmediate`, the code runs in an environment that hides globals. */
export const GLOBALS_INTRO = `const queuePromise = run => void Promise.resolve().then(run)
const nodeGlobals = typeof setImmediate === 'undefined' ? unhiddenGlobals() : globalThis
function unhiddenGlobals() {
  const node = require('node:vm').runInThisContext('globalThis')
  return new Proxy(globalThis, { get: (own, name) => (/^Abort/.test(name) ? undefined : own[name]) ?? node[name] })
}`

/** The same for `handover-sim/signature`, which imports nothing and runs in every runtime. The `crypto` of jsdom cannot sign. */
export const signatureGlobals: Record<string, string> = {
  TextDecoder: 'nodeGlobals.TextDecoder',
  TextEncoder: 'nodeGlobals.TextEncoder',
  'globalThis.crypto': 'nodeGlobals.crypto',
}

/** Other runtimes than Node, and pages without https, keep what they have. */
export const SIGNATURE_INTRO = `const nodeGlobals = unhiddenGlobals() ?? globalThis
function unhiddenGlobals() {
  if (globalThis.crypto?.subtle && globalThis.TextEncoder && globalThis.TextDecoder) return null
  return globalThis.process?.getBuiltinModule?.('node:vm')?.runInThisContext('globalThis')
}`

/** Goes before the bundles for browsers, which Jest loads as ES modules under jsdom. */
export const BROWSER_INTRO = `if (typeof TextDecoder === 'undefined' || typeof Response === 'undefined') throw new Error(
  "handover-sim was loaded in its version for browsers, in an environment that hides globals, as jsdom under Jest does. " +
  "Set testEnvironmentOptions: { customExportConditions: ['node'] } in the configuration of Jest.")`
