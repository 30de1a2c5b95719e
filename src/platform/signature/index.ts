/** `handover-sim/signature`: signing and verifying webhooks, for an intermediary and its tests. Needs nothing but WebCrypto. */
export type { Keys, RawBody } from './arguments.ts'
export {
  ALGORITHM_HEADER,
  type HeaderRecord,
  type HeadersLike,
  SIGNATURE_HEADER,
  type SignatureSource,
} from './arguments.ts'
export { type ExplainOptions, type Explanation, explain } from './explain.ts'
export type { MistakeId } from './mistakes.ts'
export {
  type BodyStream,
  type RequestLike,
  type RequestLimits,
  sign,
  signatureHeaders,
  type VerifiedRequest,
  verify,
  verifyRequest,
} from './sign-verify.ts'
