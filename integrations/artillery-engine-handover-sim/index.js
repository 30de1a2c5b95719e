/**
 * An engine of Artillery: each virtual user plays scenarios of handover-sim, by `POST /_sim/plays` of the simulator at
 * `config.target`. One request is open while a scenario runs.
 */

/** @typedef {{ yaml?: string, scenario?: object, builtin?: string } | string} Play */

class HandoverSimEngine {
  /** @param {{ config: { target: string, handoverSim?: { token?: string, timeout?: string } } }} script */
  constructor({ config }) {
    this.url = new URL('/_sim/plays', config.target)
    this.settings = config.handoverSim ?? {}
  }

  /** Called once for each scenario of the script. Returns the function that Artillery calls for each virtual user. */
  createScenario({ flow }, events) {
    const plays = flow.map(step => bodyOf(step.play))
    return (context, done) => {
      events.emit('started')
      this.playAll(plays, events).then(
        () => done(null, context),
        error => done(error, context),
      )
    }
  }

  async playAll(plays, events) {
    for (const body of plays) {
      try {
        await this.play(body, events)
      } catch (error) {
        events.emit('error', error.code ?? error.message)
        throw error
      }
    }
  }

  async play(body, events) {
    const { token, timeout } = this.settings
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const sent = { ...body, ...(timeout && { timeout }), journal: 'never' }
    const response = await fetch(this.url, { method: 'POST', headers, body: JSON.stringify(sent) })
    const answer = await response.json()
    if (!response.ok) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })

    const { outcome, timings, failures, reason } = answer
    events.emit('counter', `handover.verdict.${outcome}`, 1)
    for (const ms of timings.ack) events.emit('histogram', 'handover.ack', ms)
    for (const ms of timings.user_to_agent) events.emit('histogram', 'handover.to_agent', ms)
    for (const ms of timings.agent_to_user) events.emit('histogram', 'handover.to_user', ms)
    for (const ms of timings.accept_to_start) events.emit('histogram', 'handover.to_start', ms)
    if (outcome === 'pass') return
    const [first] = failures
    throw Object.assign(new Error(first?.happened ?? reason ?? outcome), { code: first?.code ?? outcome })
  }
}

/** `builtin:happy-path.yaml`, or the fields of the body of `POST /_sim/plays`. */
function bodyOf(play) {
  if (typeof play === 'object' && play !== null) return play
  if (typeof play === 'string' && play.startsWith('builtin:')) return { builtin: play.slice('builtin:'.length) }
  throw new Error(
    `Expected play: builtin:NAME, or play: { yaml, scenario or builtin }, received ${JSON.stringify(play)}.`,
  )
}

module.exports = HandoverSimEngine
