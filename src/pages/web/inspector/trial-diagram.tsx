/** Draws what passed in a trial, which had a simulator and a journal of its own. */
import { useMemo, useState } from 'preact/hooks'
import type { Entry } from '../../../platform/journal/entry.ts'
import type { PlayedScenario } from '../../../server/control/readiness.ts'
import { SequenceDiagram } from '../components/sequence-diagram.tsx'
import { createJournalLog } from '../model/journal-log.ts'

export interface TrialDiagramProps {
  readonly trial: Pick<PlayedScenario, 'chats' | 'entries'>
  readonly label: string
}

export function TrialDiagram({ trial: { chats, entries }, label }: TrialDiagramProps) {
  const [selected, setSelected] = useState(-1)
  const rows = useMemo(() => {
    const names = new Map(Object.entries(chats).map(([name, chatId]) => [chatId, name]))
    return createJournalLog(chatId => names.get(chatId) ?? null).add(entries as readonly Entry[]).rows
  }, [chats, entries])
  return (
    <SequenceDiagram
      rows={rows}
      label={label}
      selected={selected}
      conversation={null}
      onMove={setSelected}
      onOpen={setSelected}
    />
  )
}
