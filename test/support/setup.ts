/** Before every test file. What is imported here is loaded once for each worker, before any module of ours. */
import './property-seed.ts'
import './stall-tolerant-timers.ts'

/** What a CI asks of colours is for the words of its runner, not for what tests read. */
for (const name of ['FORCE_COLOR', 'NO_COLOR', 'CLICOLOR_FORCE']) delete process.env[name]
