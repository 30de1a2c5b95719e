/** Shows the platform's side: availability and settings. */
import { useEffect, useState } from 'preact/hooks'
import type { Session } from './session.ts'

interface PlatformState {
  readonly config: Readonly<Record<string, unknown>>
  readonly availability: readonly { readonly queue: string; readonly availability: string; readonly open: boolean }[]
}

export function PlatformPanel({ session }: { readonly session: Session }) {
  const [state, setState] = useState<PlatformState | null>(null)
  useEffect(
    () => session.act(async () => setState(await session.client.send<PlatformState>('GET', '/state'))),
    [session],
  )
  if (state === null) return null
  return (
    <dl class="facts">
      {state.availability.map(({ queue, availability }) => (
        <div key={queue}>
          <dt>{queue}</dt>
          <dd>{availability}</dd>
        </div>
      ))}
      {Object.entries(state.config).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
