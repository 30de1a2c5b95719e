/** Loads `schema-checks.ts` at the first call where bundles are CommonJS, because its schemas take long to create. */
import { checkAnswer, checkAnswerInSteps, parseBySchema } from './schema-checks.ts'

export const schemaChecks = () => ({ checkAnswer, checkAnswerInSteps, parseBySchema })
