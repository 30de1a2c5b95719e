/** Texts of problems found while scenarios are compiled. Each follows the place of the problem. */

export const COMPILE_TEXTS = {
  unexpected: (expected: string, received: unknown) => `must be ${expected}, got ${JSON.stringify(received)}`,
  tooLate: (name: string) =>
    `${name} must be known before the run: of vars, matrix, params, $(i) or $(user), not from a call or a chat`,
  emptyName: '$() names nothing; write $$( for a literal $(',
  undefinedName: (name: string, hint: string) => `$(${name}) is not defined at this point${hint}`,
  unknownPart: (name: string, hint: string) => `$(${name}) does not exist${hint}`,
  unknownSetting: (name: string, hint: string) => `$(config.${name}) is not a setting${hint}`,
  thereAre: (names: readonly string[]) => `; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`,
  has: (owner: string, names: readonly string[]) => `; ${owner} has ${names.join(', ')}`,
  hasNone: '; it has none',
  reserved: (name: string) => `is taken: $(${name}) is always defined; choose another name`,
  reservedParameter: (file: string, name: string) =>
    `${file} has a parameter ${name}, but $(${name}) is always defined; choose another name`,
  unknownParameter: (file: string, hint: string) => `is not a parameter of ${file}${hint}`,
  missingParameter: (file: string, name: string) => `needs with: { ${name}: ... }, because ${file} has no value for it`,
  circle: 'includes a file that is being included already: the steps would never end',
  tooManyExpansions: (most: number) =>
    `unrolls to more than ${most} steps and lists of steps; use fewer repeats, users or includes`,
  tooManyInstances: (count: number, most: number) => `has ${count} combinations; at most ${most} are run`,
  tooManyLoaded: (most: number) => `has too many steps: all scenarios together have more than ${most}`,
  oversized: (most: number, mostOfAll: number) =>
    `is too large with its $(...) filled in: a value can have ${most} characters and parts, and all steps together ${mostOfAll}`,
  tooManyNames: (count: number, most: number) => `has ${count} names; at most ${most} can be defined here`,
  includedTooDeep: (most: number) => `is included in more than ${most} files inside each other`,
  tooManySteps: (most: number) =>
    `is one of more than ${most} steps, repeats unrolled: that is too many for one scenario`,
  noAssertion: 'assert nothing: add an expect, none, check, agent: { sees: ... } or never',
  duplicateKnob: (name: string) => `sets ${name} again`,
  takenCapture: (why: string) => `is taken: ${why}; choose another name`,
  alwaysDefined: 'it is always defined',
  givenName: 'it is one of vars, matrix or params',
  capturedAt: (place: string) => `the step at ${place} captures it`,
  duplicateId: (place: string) => `is taken: the step at ${place} has it already`,
  unknownId: (hint: string) => `names no earlier step${hint}`,
  giveId: '; give that step an id',
  noEvent: (verb: string) => `names a step that sends no event: ${verb}; user, press and deliver do`,
  tooManyAlternatives: (ways: number, most: number) =>
    `can be met in ${ways} ways, because its oneOf multiply; at most ${most} are tried: make it several steps`,
  unknownCallPart: (part: string, hint: string) => `begins with ${part}, which a call does not have${hint}`,
  callParts: (parts: readonly string[], from: string) => `; it has ${parts.join(', ')}, as in body.${from}`,
  unclearChat: (chats: readonly string[]) => `does not say which chat: write chat: ${chats.join(' or chat: ')}`,
  unknownChat: (name: string, hint: string) => `${JSON.stringify(name)} is not a chat of this scenario${hint}`,
  noFile: (path: string) => `there is no such file: ${path}`,
  unknownField: (call: string, name: string, hint: string) => `${call} has no field ${name}${hint}`,
  virtualWait: 'the wait takes no real time, so the intermediary had none to make a call in: use a longer `for`',
  needlessWait: (verb: string) => `${verb} waits by itself: leave the wait out, or give it more time with \`within\``,
  heldEvent:
    'a fault keeps this event back until a later one of the chat has passed, and none comes while the step waits for ' +
    'its answer: say `async: true`',
  notABody: (body: unknown) => `must be a map of fields of the body, such as { message: ${JSON.stringify(body)} }`,
  operatorOfField: (op: string) =>
    `holds ${op}, which no body matches: write it at a field, such as { message: { ${op}: … } }`,
}
