/** `handover-sim calibrate`: compares recordings of the real platform with the contract and the assumptions in force. */
import { createReadStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../base/files/errors.ts'
import { checkRegular, saveText } from '../base/files/user-files.ts'
import { wallTime } from '../base/runtime/clock.ts'
import { limitHeapGrowth } from '../base/runtime/node.ts'
import { messageOf } from '../base/text/error-text.ts'
import { visible } from '../base/text/terminal-text.ts'
import { Calibration } from '../evaluation/calibration/calibration.ts'
import { planExperiments } from '../evaluation/calibration/experiment-plan.ts'
import { type RecordingListener, readRecording } from '../evaluation/calibration/recording.ts'
import {
  calibrationJson,
  calibrationMarkdown,
  calibrationText,
  configLines,
  planText,
} from '../pages/reporters/calibration.ts'
import { CALIBRATION_REPORTS, parseReports } from '../pages/reporters/report-option.ts'
import type { KnobSettings } from '../platform/contract/knobs.ts'
import { knobsFrom } from '../platform/simulator/options.ts'
import { Replay, type ReplayResult } from '../running/replayer/replay.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import { configSources, defineCommand, SETTING_FLAGS } from './command.ts'
import { colorLevel, EnvironmentError, type Io, UsageError } from './io.ts'
import { exitCodeWith, writeRequested } from './write-reports.ts'

export const calibrateCommand = defineCommand({
  arguments: { '<files...>': 'recordings: journals, HAR files, or JSON lines of exchanges' },
  flags: {
    '--config <file>': SETTING_FLAGS['--config <file>'],
    '--set <knob=value>': SETTING_FLAGS['--set <knob=value>'],
    '--api-key <key>': 'handover API key, to check what a recorded signature covers',
    '--write <file>': 'write a config file with the knobs that fit, each with its evidence',
    '--force': 'let --write replace a file',
    '--plan <file>': 'write a checklist: what to do in the real chat to see the rest',
    '--replay': 'also replay the recordings in a simulator with these settings, and compare its answers',
    '--json': 'one line of JSON: { v, type, fits, assumptions, findings, plan }',
    '--report <reports>': { description: 'pretty, json=F, markdown=F; with commas', repeatable: true },
  },
  examples: {
    'calibrate session.har --plan plan.md': 'compare a recording, and list what to do in the real chat to see the rest',
  },
  async run(context, flags, files) {
    const { io, env } = context
    const reports = parseReports(
      [...(flags.report ?? []), ...(flags.json ? ['json'] : [])].join(','),
      CALIBRATION_REPORTS,
    )
    checkWritable(flags.write, flags.force, io)
    const { options, warnings } = await resolveSettings(flags, configSources(context))
    for (const warning of warnings) io.stderr.write(`${warning}\n`)
    limitHeapGrowth()
    const calibration = new Calibration(knobsFrom(options.knobs ?? {}))
    for (const file of files) {
      calibration.beginRecording()
      await readFile(file, calibration, io)
    }
    const result = calibration.result()
    const plan = planExperiments(result)
    const knobs = options.knobs ?? {}
    const replay = flags.replay ? await replayFiles(files, knobs, io) : null
    const exitCode = result.isContradicted || (replay !== null && replay.differenceCount > 0) ? 1 : 0

    const problems = await writeRequested(
      reports,
      exitCode,
      async ({ report }, _exitCode, layout) => {
        if (report === 'json') return [calibrationJson(result, plan, replay)]
        return [report === 'markdown' ? calibrationMarkdown(result, replay) : calibrationText(result, replay, layout)]
      },
      { io, env, colorLevel: colorLevel(env, io.stdout.isTTY) },
    )
    if (flags.plan !== undefined) save(flags.plan, planText(plan), io)
    if (flags.write !== undefined) {
      const lines = configLines(result, (result.to ?? wallTime()).slice(0, 10))
      save(
        flags.write,
        `# Written by npx handover-sim calibrate from ${files.map(visible).join(', ')}.\nversion: 1\n${lines.join('\n')}\n`,
        io,
      )
    }
    return exitCodeWith(exitCode, problems)
  },
})

/** Replays each recording in a simulator of its own. */
async function replayFiles(files: readonly string[], knobs: KnobSettings, io: Io): Promise<ReplayResult> {
  let total: ReplayResult = { compared: 0, differences: [], differenceCount: 0 }
  for (const file of files) {
    const replay = new Replay(knobs)
    await readFile(file, { observe: observation => replay.prepare(observation) }, io)
    await readFile(file, { observe: observation => replay.replay(observation) }, io)
    const { compared, differences, differenceCount } = await replay.end()
    total = {
      compared: total.compared + compared,
      differences: [...total.differences, ...differences],
      differenceCount: total.differenceCount + differenceCount,
    }
  }
  return total
}

function checkWritable(file: string | undefined, isForced: boolean | undefined, { cwd }: Io): void {
  if (file === undefined || isForced || !existsSync(resolve(cwd, file))) return
  throw new UsageError(`--write: ${file} exists. Pass --force to replace it, or another name, and copy what it adds.`)
}

async function readFile(file: string, listener: RecordingListener, { cwd }: Io): Promise<void> {
  try {
    await readRecording(file, piecesOf(file, cwd), listener)
  } catch (error) {
    throw error instanceof ConfigError ? new EnvironmentError(error.message) : error
  }
}

/** The text of a file, piece by piece. */
async function* piecesOf(file: string, cwd: string): AsyncGenerator<string> {
  try {
    const path = resolve(cwd, file)
    checkRegular(path)
    yield* createReadStream(path, 'utf8')
  } catch (error) {
    throw new EnvironmentError(`Failed to read ${visible(file)}: ${visible(messageOf(error))}.`)
  }
}

function save(file: string, text: string, { cwd, stderr }: Io): void {
  try {
    saveText(resolve(cwd, file), [text])
  } catch (error) {
    throw new EnvironmentError(`Failed to write ${visible(file)}: ${visible(messageOf(error))}.`)
  }
  stderr.write(`wrote ${visible(file)}\n`)
}
