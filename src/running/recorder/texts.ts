/** Texts of recordings: comments of the file, notes of the answer, and refusals. */

/** Notes by code; most are also a comment beside the step they are about. */
export const NOTE_TEXTS = {
  agent_steps:
    'Steps of the agent are drawn from the calls of the intermediary: a message while an agent has the chat is one that the agent wrote. Correct them where your intermediary made a call by itself.',
  began_earlier: 'A handover was in progress where the range begins, so the scenario begins with its request.',
  business_hours:
    'Business hours are left out, because the result would depend on the time of the run: `availability` says whether handover was open.',
  setting_left_out: (name: string) => `${name} is left out: it names a file of this machine.`,
  setting_changed: (names: string) => `${names} changed here; a scenario sets its knobs only at the beginning.`,
  call_refused: (what: string) => `${what}: refused, so no step expects it.`,
  call_too_long: (what: string) => `${what}: the journal has only the beginning of its body, so any body is accepted.`,
  call_by_itself: (endpoint: string) =>
    `No agent had the chat: the intermediary called ${endpoint} by itself, or an agent did something that has no step.`,
  agent_failed: (verb: string) => `The agent driver could not play ${verb}, so it has no step.`,
  buttons_left_out: 'The buttons of this message are left out: one of their fields begins with $, like a matcher.',
  not_reached: 'The webhook gave no answer here; the scenario requires 200.',
  resend_left_out: 'An event from before this recording was sent again here.',
  sending_left_out: 'This event was sent in an unusual way (delayed, repeated or truncated); a step cannot say that.',
  attachments_of_history: 'Files in the messages before the recording are left out: a history has only texts.',
  fault_never_hit: (name: string) => `The fault ${name} applied to nothing, so it is set for the first chat.`,
  fault_of_several: (name: string) => `The fault ${name} applied to several chats; here it is set for each.`,
  nothing_expected: 'The intermediary made no call, so none is expected.',
}

export const COMMENTS = {
  head: 'Recorded with handover-sim. Read it, give it a better name, and delete what does not matter.',
  event_refused: (status: number) => `the webhook answered ${status}; a correct intermediary answers 200`,
}

export const RECORD_PROBLEMS = {
  noChats: 'There is nothing to record: no chat was created yet.',
  nothingHappened: (range: string) =>
    `There is nothing to record: no user and no intermediary did anything in these chats${range}.`,
  after: (seq: number) => ` after entry ${seq}`,
  before: (seq: number) => ` before entry ${seq}`,
  evicted: (firstSeq: number) =>
    `The journal has dropped entries of these chats: it begins with entry ${firstSeq}. Record newer chats, or pass after: ${firstSeq - 1} or later.`,
  tooLong: (count: number, most: number) =>
    `The range makes at least ${count} steps, and a recording has at most ${most}: choose fewer chats, or a shorter range.`,
}

export const TRIAL_TEXTS = {
  otherStatus: (call: string, status: number) => `${call}: the platform answered ${status} in the trial`,
  unnoticed: (what: string) => `it also passes when this call is left out: ${what}`,
}
