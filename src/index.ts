/** The public names of handover-sim. */
export type { AssumptionName } from './contract/assumptions.ts'
export { FAULT_HEADER, INTERNAL_HEADER, UNSPECIFIED_HEADER } from './contract/errors.ts'
export type { WebhookEvent } from './contract/events.ts'
export type { ChatRecord, MessageRecord } from './contract/schemas.ts'
export { VERSION } from './contract/version.ts'
export type { FaultOn, FaultSpec, NamedFault } from './faults/spec.ts'
export type { Entry, EntryKind, EntryOf, Finding } from './journal/entry.ts'
export type { Journal, JournalQuery } from './journal/journal.ts'
export { WaitTimeout } from './journal/waiters.ts'
export { CannotListen, PortBusy } from './server/cannot-listen.ts'
export type { Ack, Acted, ActOptions, AttachmentInput } from './simulator/chat-handle.ts'
export type { FaultDesk } from './simulator/fault-desk.ts'
export type { ChatOptions } from './simulator/new-chat.ts'
export { InvalidSetting, type SettingProblem } from './simulator/options.ts'
export type { SnapshotOptions } from './simulator/snapshot/capture.ts'
export { InvalidSnapshot } from './simulator/snapshot/check.ts'
export type { Snapshot } from './simulator/snapshot/schema.ts'
export type { EffectiveAssumption } from './simulator.ts'
export type { AgentFunctions, SeesOptions } from './testing/agent.ts'
export type { TestChat as ChatHandle } from './testing/chat.ts'
export type { CleanOptions } from './testing/clean.ts'
export { ExpectationError } from './testing/expectation-error.ts'
export type { ExpectCallOptions } from './testing/expectations.ts'
export type { Expected } from './testing/expected.ts'
export type { ReceivedCall } from './testing/received.ts'
export {
  type ServerOptions,
  type SimulatorServer,
  startSimulator,
  type Workspace,
  type WorkspaceOptions,
} from './testing/server.ts'
export { createSimulator, type Simulator, type SimulatorOptions } from './testing/simulator.ts'
export type { SeenChat, SeenMessage } from './user/view.ts'
export { WorkspaceTaken } from './workspaces/registry.ts'
