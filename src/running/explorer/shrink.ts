/** Shortens a conversation that fails: fewer chats and acts, simpler texts, usual knobs, no fault, human pace. */
import { plainText, simplerTexts } from './generate.ts'
import { type Act, type ActSequence, possibleActs, ruleOf } from './model.ts'

export interface ShrinkOptions {
  /** Which of these conversations fail in the same way. */
  failing(candidates: readonly ActSequence[]): Promise<readonly boolean[]>
  isOver(): boolean
}

/** Resolves with the shortest conversation that was found and fails. `failedAt`: the act at which it failed. */
export async function shrink(
  sequence: ActSequence,
  failedAt: number | null,
  { failing, isOver }: ShrinkOptions,
): Promise<ActSequence> {
  // As the model has it, so that the acts of a candidate are those that are run.
  let best: ActSequence = { ...sequence, acts: possibleActs(sequence) }
  const withActs = (acts: readonly Act[]): ActSequence => ({ ...best, acts: possibleActs({ acts }) })
  const isNew = (candidate: ActSequence) =>
    candidate.acts.length > 0 && JSON.stringify(candidate) !== JSON.stringify(best)
  /** Takes the first candidate that fails. */
  const tryFirst = async (candidates: readonly ActSequence[]): Promise<boolean> => {
    const possible = candidates.filter(isNew)
    if (possible.length === 0 || isOver()) return false
    const failed = await failing(possible)
    const shorter = possible.find((_, index) => failed[index])
    if (shorter !== undefined) best = shorter
    return shorter !== undefined
  }

  // Most failures need the last handover only, or all handovers of the chat, and the act at which they occurred.
  const last = best.acts[failedAt ?? best.acts.length - 1]
  if (last !== undefined) {
    const until = best.acts.slice(0, (failedAt ?? best.acts.length - 1) + 1)
    const ofChat = until.filter(({ chat }) => chat === last.chat)
    const handovers = ofChat.filter(act => act === last || ruleOf(act.kind).to !== undefined)
    const lastPress = handovers.findLastIndex(({ kind }) => kind === 'press')
    const lastHandover = handovers.slice(Math.max(0, lastPress))
    // Conversations with acts of the whole desk run alone, so those without come first.
    const shorter = [lastHandover, handovers, ofChat.filter(isOfChat), until.filter(isOfChat)].map(withActs)
    const isFound = (await tryFirst(shorter.map(usual))) || (await tryFirst(shorter))
    if (!isFound) await tryFirst([usual(withActs(until)), withActs(until)])
  }
  let isShorter = true
  while (isShorter && !isOver()) {
    const before = JSON.stringify(best)
    await tryFirst([
      usual(best),
      { ...best, knobs: {} },
      withActs(best.acts.map(act => ({ ...act, pace: 'human' }))),
      withActs(best.acts.map(withoutFault)),
    ])
    const chats = [...new Set(best.acts.map(({ chat }) => chat))]
    if (chats.length > 1)
      await tryFirst([
        ...chats.map(chat => withActs(best.acts.filter(act => act.chat === chat))),
        ...chats.map(chat => withActs(best.acts.filter(act => act.chat !== chat))),
      ])
    for (let size = Math.ceil(best.acts.length / 2); size >= 1; size = Math.floor(size / 2)) {
      while (!isOver() && (await removeParts(size)));
    }
    for (const [index, act] of best.acts.entries()) {
      const simpler = simplerActs(act, index + 1).map(simplerAct => withActs(best.acts.with(index, simplerAct)))
      await tryFirst(simpler)
    }
    isShorter = JSON.stringify(best) !== before
  }
  return best

  /** Leaves out each part of this size; all those together that the failure does not need, or the first of them. */
  async function removeParts(size: number): Promise<boolean> {
    const starts: number[] = []
    for (let start = best.acts.length - size; start > -size; start -= size) starts.push(Math.max(0, start))
    const without = (parts: readonly number[]) =>
      withActs(best.acts.filter((_, index) => !parts.some(start => index >= start && index < start + size)))
    const candidates = starts
      .map(start => ({ start, sequence: without([start]) }))
      .filter(candidate => isNew(candidate.sequence))
    if (candidates.length === 0) return false
    const failed = await failing(candidates.map(candidate => candidate.sequence))
    const needless = candidates.filter((_, index) => failed[index])
    const [first] = needless
    if (first === undefined) return false
    const together = without(needless.map(({ start }) => start))
    if (needless.length === 1 || !(await tryFirst([together]))) best = first.sequence
    return true
  }
}

/** With usual knobs, human pace and no fault. */
const usual = ({ seed, acts }: ActSequence): ActSequence => ({
  seed,
  acts: possibleActs({ acts: acts.map(act => ({ ...withoutFault(act), pace: 'human' })) }),
  knobs: {},
})

const isOfChat = ({ kind }: Act) => ruleOf(kind).isOfDesk !== true

const withoutFault = ({ fault: _, ...act }: Act): Act => act

/** Simpler forms of an act, the simplest first. */
function simplerActs(act: Act, number: number): Act[] {
  const { files, ...withoutFiles } = act
  const [file] = files ?? []
  const simpler: Act[] = []
  if (act.pace !== 'human') simpler.push({ ...act, pace: 'human' })
  if (act.fault !== undefined) simpler.push(withoutFault(act))
  if (file !== undefined) simpler.push({ ...withoutFiles, text: act.text ?? plainText(number) })
  if (file !== undefined && (files?.length ?? 0) > 1) simpler.push({ ...act, files: [file] })
  if (act.text !== undefined) for (const text of simplerTexts(act.text, number)) simpler.push({ ...act, text })
  return simpler
}
