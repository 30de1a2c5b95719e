/** Says how to connect a service: what it needs, where it gets events, a test event, and the driver of its help desk. */
import { Address, MoreKeys } from './platform/keys.tsx'
import { usePlatform, usePlatformStore } from './platform/platform-section.tsx'
import { Health, TestEvent, UrlForm } from './platform/webhook.tsx'

export function ConnectCard() {
  const { moment, proxy } = usePlatformStore()
  if (proxy.value !== null) return <p class="empty">Nothing has passed yet. Calls and deliveries appear here.</p>
  return moment.value === null ? null : <Steps />
}

function Steps() {
  const { health, agent } = usePlatform()
  return (
    <section class="connect platform-panel" aria-labelledby="connect">
      <h3 id="connect">Connect your service</h3>
      <ol>
        <li class="stack">
          <h4>Give your service this address and this key</h4>
          <Address />
          <MoreKeys />
        </li>
        <li class="stack">
          <h4>Say where your service receives events</h4>
          <UrlForm />
        </li>
        <li class="stack">
          <h4>Send an event</h4>
          <TestEvent />
          <Health health={health} />
        </li>
        <li class="stack">
          <h4>Choose who plays the agent</h4>
          {agent.name === null ? (
            <p>
              You play the agent in this page. To act in your help desk instead, describe it in an agent driver file,
              and start with <code>--agent-driver FILE</code>.
            </p>
          ) : (
            <p>
              The agent driver <code>{agent.name}</code> acts in your help desk.
            </p>
          )}
        </li>
      </ol>
      <p class="hint">
        No service yet? Press <b>New chat</b>, and play both sides here. Each call and event then appears in this
        column.
      </p>
    </section>
  )
}
