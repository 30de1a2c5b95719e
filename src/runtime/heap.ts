/**
 * Keeps V8's young generation at its first size. A simulator makes much garbage and keeps little of it, so that a
 * young generation of the usual 3 x 32 MB only costs memory.
 */
export function keepHeapSmall(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}
