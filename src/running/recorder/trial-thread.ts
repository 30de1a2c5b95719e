/** The thread that tries a recorded scenario: says that it begins, then sends the result. */
import { parentPort, workerData } from 'node:worker_threads'
import { tryScenario } from './try-scenario.ts'

parentPort?.postMessage(null)
void tryScenario(workerData).then(result => parentPort?.postMessage(result))
