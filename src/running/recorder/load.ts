/** Loads the recorder when it is used first, so that a server starts without it. */
import type { LoadRecorder } from '../../server/control/recorder.ts'

export const loadRecorder: LoadRecorder = () => import('./record.ts')
