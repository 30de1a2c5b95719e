/** The reference intermediary in JavaScript, as a process. */
import { NODE } from './program.ts'
import { handoverStories } from './stories.ts'

handoverStories(NODE, true)
