/** The public names of handover-sim. */

export type { WebhookContext } from './base/runtime/transport.ts'
export type { Duration } from './base/text/quantities.ts'
export type { AssumptionName } from './platform/contract/assumptions.ts'
export type { TranscriptName } from './platform/contract/bot-texts.ts'
export { FAULT_HEADER, INTERNAL_HEADER, UNSPECIFIED_HEADER } from './platform/contract/errors.ts'
export type { WebhookEvent } from './platform/contract/events.ts'
export type { KnobName, KnobSettings } from './platform/contract/knobs.ts'
export type { ChatRecord, MessageRecord } from './platform/contract/schemas.ts'
export { VERSION } from './platform/contract/version.ts'
export type { NamedFault } from './platform/faults/registry.ts'
export type { FaultOn, FaultSpec } from './platform/faults/schema.ts'
export type { CallRemark as Finding, Entry, EntryKind, EntryOf } from './platform/journal/entry.ts'
export type { Journal, JournalQuery } from './platform/journal/journal.ts'
export { WaitTimeoutError } from './platform/journal/journal.ts'
export type { ChatView, MessageView } from './platform/rules/transcript.ts'
export type { Ack, ActionResult, ActOptions, AttachmentInput } from './platform/simulator/chat-handle.ts'
export type { FaultController } from './platform/simulator/fault-controller.ts'
export { fromLambda, type LambdaAdapterOptions } from './platform/simulator/lambda.ts'
export type { ChatOptions } from './platform/simulator/new-chat.ts'
export { InvalidOptionError, type SettingProblem } from './platform/simulator/options.ts'
export type { EffectiveAssumption, SimulatorClock } from './platform/simulator/simulator.ts'
export type { SnapshotOptions } from './platform/simulator/snapshot/capture.ts'
export { InvalidSnapshotError } from './platform/simulator/snapshot/invalid-snapshot.ts'
export type { Snapshot } from './platform/simulator/snapshot/schema.ts'
export {
  type FetchAdapterOptions,
  type FetchWebhook,
  fromFastify,
  fromFetch,
  fromNode,
  type ListenerWebhook,
  type WebhookAdapterOptions,
} from './platform/simulator/webhook-adapters.ts'
export { WorkspaceConflictError } from './platform/simulator/workspaces.ts'
export { ListenError, PortInUseError } from './server/listen-error.ts'
export type { AgentContext, AgentFunctions, DeskContext, SeesOptions } from './testing/agent.ts'
export type { CleanOptions } from './testing/assert-clean.ts'
export type { BodyMatcher } from './testing/body-matcher.ts'
export type { TestChat as ChatHandle } from './testing/chat.ts'
export { ExpectationError } from './testing/expectation-error.ts'
export type { ExpectCallOptions, ReceivedCall } from './testing/expectations.ts'
export {
  createSimulator,
  type ReadinessOfCheck,
  type ServerOptions,
  type Simulator,
  type SimulatorOptions,
  type SimulatorReadiness,
  type SimulatorServer,
  startSimulator,
  type Workspace,
  type WorkspaceOptions,
} from './testing/simulator.ts'
