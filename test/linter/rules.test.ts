/** Tests each rule with a journal that breaks it and one that nearly does. */
import { describe, expect, it } from 'vitest'
import { lint } from '../../src/evaluation/linter/lint.ts'
import { findingText } from '../../src/evaluation/linter/texts.ts'
import type { PlannedItem } from '../../src/evaluation/scenario/plan.ts'
import type { DeliveryContent } from '../../src/platform/journal/entry.ts'
import { planOf, type Written, writeJournal } from './journal.ts'

function found(write: (journal: Written) => void, plan = planOf()) {
  const journal = writeJournal()
  journal.conversation('c1', 'ada')
  journal.conversation('c2', 'bo')
  write(journal)
  return lint(plan, journal.entries)
}
const rules = (write: (journal: Written) => void, plan = planOf()) => found(write, plan).map(({ rule }) => rule)

describe('message-after-end', () => {
  it('reports both calls and the conversation', () => {
    const [one, ...more] = found(journal => {
      journal.call('start', 'c1')
      journal.call('end', 'c1')
      journal.call('message', 'c1')
    })
    expect(more).toEqual([])
    expect(one).toMatchObject({ rule: 'message-after-end', conversation: 'ada', entrySeqs: [4, 5] })
    expect(findingText(one!)).toContain('#5 POST /api/v2/handover/message came after the handover was ended with #4')
  })

  it.each([
    ['a new handover', (journal: Written) => journal.call('start', 'c1')],
    ['a new request', (journal: Written) => journal.event('REQUESTING TAKEOVER', 'c1')],
  ])('ignores a message after %s', (_, between) => {
    const write = (journal: Written) => {
      journal.call('end', 'c1')
      between(journal)
      journal.call('message', 'c1')
    }
    expect(rules(write)).toEqual([])
  })

  it('ignores a refused end, and an end of another chat', () => {
    const write = (journal: Written) => {
      journal.call('end', 'c1', { status: 503 })
      journal.call('message', 'c1')
      journal.call('end', 'c2')
      journal.call('message', 'c1')
    }
    expect(rules(write)).toEqual([])
  })
})

describe('start-twice', () => {
  it('reports a second start within one takeover', () => {
    const write = (journal: Written) => {
      journal.call('start', 'c1')
      journal.call('start', 'c1')
    }
    expect(rules(write)).toEqual(['start-twice'])
  })

  it('ignores a start after an end, a refusal or a lost answer', () => {
    const write = (journal: Written) => {
      journal.call('start', 'c1')
      journal.call('end', 'c1')
      journal.call('start', 'c1', { status: 503 })
      journal.call('start', 'c1', { faults: ['fault-1'], answer_lost: 'after' })
      journal.call('start', 'c1')
    }
    expect(rules(write)).toEqual([])
  })
})

describe('typing-never-stopped', () => {
  it('reports typing_start without a timeout, or with a timeout of hours', () => {
    expect(rules(journal => journal.call('typing_start', 'c1'))).toEqual(['typing-never-stopped'])
    const hours = (journal: Written) => journal.call('typing_start', 'c1', { body: { timeout: 7_200_000 } })
    expect(findingText(found(hours)[0]!)).toContain('a `timeout` of 7200000 ms')
  })

  it.each(['typing_stop', 'end'] as const)('ignores typing_start when %s follows', endpoint => {
    const write = (journal: Written) => {
      journal.call('typing_start', 'c1')
      journal.call(endpoint, 'c1')
    }
    expect(rules(write)).toEqual([])
  })

  it('message stops the indicator only with the knob typing.clearOn', () => {
    const write = (journal: Written) => {
      journal.call('typing_start', 'c1')
      journal.call('message', 'c1')
    }
    expect(rules(write)).toEqual(['typing-never-stopped'])
    expect(rules(write, planOf([], { config: { 'typing.clearOn': ['message', 'end'] } }))).toEqual([])
    const inForce = (journal: Written) => {
      journal.add({ kind: 'note', note: 'scenario_started', config: { 'typing.clearOn': ['message'] } })
      write(journal)
    }
    expect(rules(inForce), 'set for the whole run').toEqual([])
  })

  it('ignores a timeout of some seconds', () => {
    expect(rules(journal => journal.call('typing_start', 'c1', { body: { timeout: 10_000 } }))).toEqual([])
  })
})

describe('chat-never-ended', () => {
  const left = (journal: Written) => {
    journal.call('start', 'c1')
    journal.driver('leave', 'c1')
  }

  it('reports a chat whose agent left, when end was never called or never succeeded', () => {
    expect(rules(left)).toEqual(['chat-never-ended'])
    const tried = found(journal => {
      left(journal)
      journal.call('end', 'c1', { status: 503 })
    })
    expect(tried).toMatchObject([{ rule: 'chat-never-ended', entrySeqs: [3, 4, 5] }])
    expect(findingText(tried[0]!)).toContain('(1 tried)')
  })

  it('ignores a running conversation, and a chat after its end', () => {
    expect(rules(journal => journal.call('start', 'c1'))).toEqual([])
    const ended = (journal: Written) => {
      left(journal)
      journal.call('end', 'c1')
    }
    expect(rules(ended)).toEqual([])
  })

  it('ignores a chat that the help desk refused to close', () => {
    const refused = (journal: Written) => {
      journal.call('start', 'c1')
      journal.driver('leave', 'c1', { outcome: 'failed' })
    }
    expect(rules(refused)).toEqual([])
  })
})

describe('call-before-ack', () => {
  /** The webhook took from 100 to 400 ms. */
  const play = (calledAtMs: number, follows: 'event' | 'other' = 'event') =>
    rules(journal => {
      const event = journal.event('REQUESTING TAKEOVER', 'c1', 100)
      journal.call('message', 'c1', { atMs: calledAtMs, duration_ms: 5, follows: follows === 'event' ? event : 1 })
      journal.delivery(event, 'REQUESTING TAKEOVER', 'c1', { atMs: 400, duration_ms: 300 })
    })

  it('reports a call that was made and answered while the webhook waited', () => {
    expect(play(200)).toEqual(['call-before-ack'])
  })

  it.each([
    ['ignores a call that was recorded shortly after the answer', 380],
    ['ignores a call before the webhook was sent', 102],
  ])('%s', (_, atMs) => {
    expect(play(atMs)).toEqual([])
  })

  it('ignores a call that follows from another event', () => {
    expect(play(200, 'other')).toEqual([])
  })

  it('reports a call that was answered right before the webhook answered, and not one that was answered after that', () => {
    const slowCall = (answeredAtMs: number) =>
      rules(journal => {
        const follows = journal.event('REQUESTING TAKEOVER', 'c1', 100)
        journal.call('message', 'c1', { atMs: answeredAtMs, duration_ms: 200, follows })
        journal.delivery(follows, 'REQUESTING TAKEOVER', 'c1', { atMs: 400, duration_ms: 300 })
      })
    expect(slowCall(398)).toEqual(['call-before-ack'])
    expect(slowCall(500)).toEqual([])
  })
})

describe('ack-slower-than-retry', () => {
  const timedOut = { status: null, response: null, failure: { code: 'timeout', timeout_ms: 2000 } } as const
  const play = (first: Partial<DeliveryContent>, second: Partial<DeliveryContent> | null) =>
    found(journal => {
      const event = journal.event('REQUESTING TAKEOVER', 'c1')
      journal.delivery(event, 'REQUESTING TAKEOVER', 'c1', { outcome: 'failed', retry_in_ms: 1000, ...first })
      if (second !== null) journal.delivery(event, 'REQUESTING TAKEOVER', 'c1', { attempt: 2, ...second })
    })

  it('reports an event that was sent again because the webhook did not answer in time', () => {
    const [one, ...more] = play(timedOut, {})
    expect(more).toEqual([])
    expect(one).toMatchObject({ rule: 'ack-slower-than-retry', conversation: 'ada', entrySeqs: [4, 5] })
    expect(findingText(one!)).toContain('REQUESTING TAKEOVER (#4) within 2s, so it was sent again 1s later (#5)')
  })

  it.each([
    ['a retry that has not come', timedOut, null],
    ['a retry of another event', timedOut, { delivery_id: 'other' }],
    ['a refused event', { status: 503 }, {}],
    ['a copy that a fault made', timedOut, { duplicate: true }],
  ] as const)('ignores %s', (_, first, second) => {
    expect(play(first, second)).toEqual([])
  })
})

describe('transcript-polling', () => {
  const reads = (journal: Written, count: number, gapMs: number) => {
    for (let i = 0; i < count; i++) journal.call(i % 2 ? 'chat' : 'transcript', 'c1', { atMs: 1000 + i * gapMs })
  }

  it('reports polling once, with the number of reads and their duration', () => {
    const [one, ...more] = found(journal => reads(journal, 6, 500))
    expect(more).toEqual([])
    expect(one).toMatchObject({ rule: 'transcript-polling', entrySeqs: [3, 4, 5, 6, 7, 8] })
    expect(findingText(one!)).toContain('5 more reads of the same chat came within 2.5 s')
  })

  it('ignores few reads, slow reads, and reads with events between', () => {
    expect(rules(journal => reads(journal, 3, 10))).toEqual([])
    expect(rules(journal => reads(journal, 8, 4000))).toEqual([])
    const news = (journal: Written) => {
      reads(journal, 2, 10)
      journal.user('c1', 'Hi')
      reads(journal, 2, 10)
    }
    expect(rules(news)).toEqual([])
  })
})

describe('secret-exposed', () => {
  it.each([
    ['the key of the headers in a text', { body: { message: 'Key: my-own-key-1' } }],
    ['a key in the address', { path: '/api/v2/handover/message?access_token=***' }],
    ['a key as the value of a parameter', { path: '/api/v2/handover/message?for=my%2Down-key-1' }],
    ['a key in the path', { path: '/api/v2/my-own-key-1/message', endpoint: null }],
    ['the default key', { body: { sender: { name: 'sim-handover-key' } } }],
  ])('reports %s', (_, more) => {
    const write = (journal: Written) => {
      const body = { bot_id: 1042, chat_id: 'c1' }
      journal.call('start', 'c1', { request: { headers: { authorization: 'Bearer my-own-key-1' }, bytes: 0, body } })
      journal.call('message', 'c1', more)
    }
    expect(found(write)).toMatchObject([{ rule: 'secret-exposed', conversation: 'ada', entrySeqs: [4] }])
  })

  it('reports a signature in the answer to the webhook', () => {
    const signature = 'uEeD0Q7eW9btdx6LFvvlpwkzQBWdbknsQkg1C27Cx7Q='
    const write = (journal: Written) =>
      journal.delivery(1, 'MESSAGE FROM USER', 'c1', {
        request: { headers: { 'Kindly-HMAC': signature }, body: '{}' },
        response: { headers: {}, body: `expected ${signature}`, truncated: false },
      })
    expect(rules(write)).toEqual(['secret-exposed'])
  })

  it('ignores masked keys and keys that are short as a word', () => {
    const write = (journal: Written) => {
      const headers = { authorization: 'Bearer ***' }
      journal.call('message', 'c1', { request: { headers, bytes: 0, body: { message: 'three stars: ***, hi' } } })
    }
    expect(rules(write, planOf([], { config: { 'keys.handover': 'hi' } }))).toEqual([])
  })
})

describe('alias-mixed', () => {
  it('reports both aliases once for the whole run', () => {
    const write = (journal: Written) => {
      journal.call('start', 'c1')
      journal.call('message', 'c1', { alias: 'takeover' })
      journal.call('end', 'c1')
    }
    expect(found(write)).toMatchObject([{ rule: 'alias-mixed', conversation: null, entrySeqs: [3, 4] }])
  })

  it('ignores a run that uses only takeover', () => {
    const write = (journal: Written) => {
      journal.call('start', 'c1', { alias: 'takeover' })
      journal.call('chat', 'c1', { alias: null })
      journal.call('end', 'c1', { alias: 'takeover' })
    }
    expect(rules(write)).toEqual([])
  })
})

describe('fault-unused', () => {
  const plan = planOf([1, 2].map(number => ({ kind: 'step', number }) as PlannedItem))
  const set = (journal: Written) =>
    journal.add({
      kind: 'note',
      note: 'fault_set',
      fault: 'flaky',
      effect: { respond: { status: 503 } },
      chat_id: 'c1',
    })
  const apply = (journal: Written) =>
    journal.add({ kind: 'fault', fault: 'flaky', effect: { respond: { status: 503 } }, hit: 1 })
  const end = (journal: Written, ...steps: number[]) => {
    for (const step of steps) journal.add({ kind: 'note', note: 'step_ended', step })
  }

  it('reports an unused fault with its effect', () => {
    const [one, ...more] = found(journal => {
      set(journal)
      end(journal, 1, 2)
    }, plan)
    expect(more).toEqual([])
    expect(one).toMatchObject({ rule: 'fault-unused', conversation: 'ada', entrySeqs: [3] })
    expect(findingText(one!)).toMatch(/^The fault flaky \(respond 503\), set with #3, was not applied/)
  })

  it('ignores a fault that was applied, and a run that ended early', () => {
    const applied = (journal: Written) => {
      set(journal)
      apply(journal)
      end(journal, 1, 2)
    }
    const early = (journal: Written) => {
      set(journal)
      end(journal, 1)
    }
    expect(rules(applied, plan)).toEqual([])
    expect(rules(early, plan)).toEqual([])
  })

  it('reports a second unused fault of the same name', () => {
    const again = (journal: Written) => {
      set(journal)
      apply(journal)
      set(journal)
      end(journal, 1, 2)
    }
    expect(found(again, plan)).toMatchObject([{ rule: 'fault-unused', entrySeqs: [5] }])
  })
})

describe('findings of the platform', () => {
  it('reports the same finding of several calls once', () => {
    const findings = [{ rule: 'ER1', message: 'timeout_ms is not a known field; it was ignored.' }]
    const write = (journal: Written) => {
      journal.call('typing_stop', 'c1', { findings })
      journal.call('typing_stop', 'c1', { findings })
      journal.call('typing_stop', 'c2', { findings })
    }
    expect(found(write)).toMatchObject([
      { rule: 'unknown-fields', conversation: 'ada', entrySeqs: [3, 4] },
      { rule: 'unknown-fields', conversation: 'bo', entrySeqs: [5] },
    ])
  })
})

it('end-without-takeover ignores an end that is repeated because its answer was lost', () => {
  const findings = [{ rule: 'E5', message: 'end for a chat that is not taken over.' }]
  const twice = (more: object) => (journal: Written) => {
    journal.call('end', 'c1', more)
    journal.call('end', 'c1', { findings })
  }
  expect(rules(twice({ faults: ['fault-1'], answer_lost: 'after' }))).toEqual([])
  expect(rules(twice({}))).toEqual(['end-without-takeover'])
})

it('findings have the order of the journal', () => {
  const write = (journal: Written) => {
    journal.call('message', 'c2', { findings: [{ rule: 'R-SENDER.4', message: 'sender is missing.' }] })
    journal.call('end', 'c1')
    journal.call('message', 'c1')
    journal.call('end', 'c2', { findings: [{ rule: 'E5', message: 'end for a chat that is not taken over.' }] })
  }
  expect(rules(write)).toEqual(['sender-incomplete', 'message-after-end', 'end-without-takeover'])
})
