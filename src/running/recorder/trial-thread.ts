/** The thread that tries a recorded scenario. */
import { parentPort, workerData } from 'node:worker_threads'
import { tryScenario } from './try-scenario.ts'

void tryScenario(workerData).then(result => parentPort?.postMessage(result))
