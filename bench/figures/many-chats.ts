/** Measures a message among 100,000 chats beside 100 chats. Requests rotate over all chats. */
import { measureAlternately } from '../rounds.ts'
import { atLeast, atMost, createRow, type Row } from '../rows.ts'
import { createChats, messageTo, startSimulator } from '../servers.ts'
import { fewer, type Settings } from '../settings.ts'

/** The default memory limit holds fewer chats that an agent has taken over. Both sides have the larger limit. */
const FLAGS = ['--output', 'quiet', '--memory-limit', '256mb']

export async function manyChats(settings: Settings): Promise<Row[]> {
  await using few = await startSimulator(settings, { flags: FLAGS })
  await using many = await startSimulator(settings, { flags: FLAGS })
  const [fewChats, manyChats] = [await createChats(few, 100), await createChats(many, fewer(settings, 100_000, 1000))]
  const sides = [
    { server: few, request: messageTo(fewChats) },
    { server: many, request: messageTo(manyChats) },
  ]
  const [yardstick, ours] = await measureAlternately(sides, settings)
  const rows = [
    ['processor time', 'us', 'usPerRequest', atMost(1.1)],
    ['requests', '/s', 'perSecond', atLeast(0.9)],
  ] as const
  return rows.map(([what, unit, field, goal]) =>
    createRow({
      figure: 'many-chats',
      name: `POST message among ${manyChats.length} chats beside 100, ${what}`,
      unit,
      values: ours!.map(one => one[field]),
      yardstick: yardstick!.map(one => one[field]),
      goal,
    }),
  )
}
