/** A run with each outcome, warnings, and a failure outside of its scenarios. */
import type { RunResult } from '../../../src/evaluation/evaluator/verdict.ts'
import { hostileResult } from '../../reporters/hostile.ts'
import { failure, Journal, result, scenarioResult, step, stepVerdict, warning } from '../../reporters/run-results.ts'
import { crossTalkPlay, escapedPlay, openResult, unreachableResult } from '../../reporters/samples.ts'

const closedHours = () => {
  const never = warning('chat-never-ended', 'The agent left (#3) and `end` was never called.', 'main')
  return scenarioResult({
    name: 'Closed hours',
    warnings: [never, never],
    steps: [stepVerdict(step(1, 'availability CLOSED'))],
  })
}

export function sample(): RunResult {
  const log = new Journal()
  const orphan = log.call('message', { message: 'Hello?' }, { chat_id: 'unknown', status: 404 })
  const happened = `#${orphan} POST message for an unknown chat`
  return result(
    [
      closedHours(),
      escapedPlay(),
      scenarioResult({ name: 'A busy platform is asked again', tags: ['resilience'] }),
      openResult(),
      { ...crossTalkPlay(), instance: 2 },
      unreachableResult(),
    ],
    {
      journal: log.entries,
      failures: [failure({ kind: 'unexpected', conversation: null, happened, entrySeqs: [orphan] })],
    },
  )
}

/** Texts that would break out of HTML, an attribute or a script. */
export const HOSTILE_MARKUP = [
  '</script><script>broken=1</script>',
  '<img src=x onerror="broken=1">',
  '"><b onclick=broken=1>',
  "' autofocus onfocus='broken=1",
  '<!--<script>',
  '\u2028\u2029\u202Egnp.exe\u202C',
  '\u0024{broken=1}`',
  'javascript:broken=1',
  '\u0000\uD83D ]]></noscript>&amp;',
]

/** A run with these texts everywhere. */
export const hostileRun = (texts: readonly string[] = HOSTILE_MARKUP): RunResult =>
  result(texts.map(text => hostileResult(text)))
