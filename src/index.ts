/** The public names of handover-sim. */
export type { AssumptionName } from './contract/assumptions.ts'
export { FAULT_HEADER, INTERNAL_HEADER, UNSPECIFIED_HEADER } from './contract/errors.ts'
export type { WebhookEvent } from './contract/events.ts'
export type { KnobName, KnobSettings } from './contract/knobs.ts'
export type { ChatRecord, MessageRecord } from './contract/schemas.ts'
export type { TranscriptName } from './contract/transcripts.ts'
export { VERSION } from './contract/version.ts'
export type { NamedFault } from './faults/registry.ts'
export type { FaultOn, FaultSpec } from './faults/schema.ts'
export type { Entry, EntryKind, EntryOf, Finding } from './journal/entry.ts'
export type { Journal, JournalQuery } from './journal/journal.ts'
export { WaitTimeoutError } from './journal/waiters.ts'
export type { ChatView, MessageView } from './platform/transcript.ts'
export { ListenError, PortInUseError } from './server/addresses.ts'
export type { Ack, ActionResult, ActOptions, AttachmentInput } from './simulator/chat-handle.ts'
export type { FaultController } from './simulator/fault-controller.ts'
export type { ChatOptions } from './simulator/new-chat.ts'
export { InvalidOptionError, type SettingProblem } from './simulator/options.ts'
export type { EffectiveAssumption } from './simulator/simulator.ts'
export type { SimulatorClock } from './simulator/simulator-clock.ts'
export type { SnapshotOptions } from './simulator/snapshot/capture.ts'
export { InvalidSnapshotError } from './simulator/snapshot/invalid-snapshot.ts'
export type { Snapshot } from './simulator/snapshot/schema.ts'
export {
  type FetchWebhook,
  fromFastify,
  fromFetch,
  fromNode,
  type ListenerWebhook,
  type WebhookAdapterOptions,
} from './simulator/webhook-adapters.ts'
export { WorkspaceConflictError } from './simulator/workspaces.ts'
export type { AgentContext, AgentFunctions, DeskContext, SeesOptions } from './testing/agent.ts'
export type { CleanOptions } from './testing/assert-clean.ts'
export type { BodyMatcher } from './testing/body-matcher.ts'
export type { TestChat as ChatHandle } from './testing/chat.ts'
export { ExpectationError } from './testing/expectation-error.ts'
export type { ExpectCallOptions, ReceivedCall } from './testing/expectations.ts'
export {
  createSimulator,
  type ServerOptions,
  type Simulator,
  type SimulatorOptions,
  type SimulatorServer,
  startSimulator,
  type Workspace,
  type WorkspaceOptions,
} from './testing/simulator.ts'
export type { Duration } from './text/quantities.ts'
