/** Before every test file. What is imported here is loaded once for each worker, before any module of ours. */
import './property-seed.ts'
import './steady-time.ts'
