/** How an event sent by hand is signed: as the platform does, or wrong in one way a receiver must notice. */
export const SIGN_MODES = ['valid', 'none', 'wrong-key', 'tampered', 'truncated', 'hex'] as const
export type SignMode = (typeof SIGN_MODES)[number]
