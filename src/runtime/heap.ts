/**
 * Keeps the young generation at its first size. A simulator makes much garbage and keeps little of it: letting V8
 * grow that space to its usual 3 x 32 MB only raises what a machine has to have.
 */
export function keepHeapSmall(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}
