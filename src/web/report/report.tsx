/** Renders a run as one HTML file that loads nothing and is readable without scripts. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { renderToString } from 'preact-render-to-string'
import type { RunReport } from '../../evaluator/wording/report.ts'
import { packagePath } from '../../runtime/package-files.ts'
import { visible } from '../../text/terminal-text.ts'
import { Causes, OutsideFailures, Overview, verdictHeading, Warnings } from './overview.tsx'
import { ReportScenarios } from './report-scenarios.tsx'
import { linkScenarios } from './scenario-links.ts'
import { collectTimelineData } from './timeline-data.tsx'

export function htmlReport(result: RunReport): string {
  const script = readAsset('report.js')
  const style = readAsset('report.css')
  return `<!doctype html>
<html lang="en">
<head>
${renderToString(<Head result={result} policy={policyFor([MARK_SCRIPTED, script], style)} />)}
<style>${style}</style>
<script>${MARK_SCRIPTED}</script>
</head>
<body>
${renderToString(<Body result={result} />)}
<script>${script}</script>
</body>
</html>
`
}

/** Runs before the first paint, so that elements for scripts never flash without them. */
const MARK_SCRIPTED = "document.documentElement.classList.add('scripted')"

/** Allows the inline script and style by their hashes, and forbids requests, frames and text as code. */
const policyFor = (scripts: readonly string[], style: string): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map(sourceHash).join(' ')}`,
    `style-src ${sourceHash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

const sourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Reads a file that the build made, and escapes what would end the element around it. */
function readAsset(name: 'report.js' | 'report.css'): string {
  const path = packagePath(`dist/web/${name}`)
  if (path === null)
    throw new Error(`Failed to read dist/web/${name}: it is missing. In a checkout, run: npm run build`)
  return readFileSync(path, 'utf8').trim().replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--')
}

function Head({ result, policy }: { readonly result: RunReport; readonly policy: string }) {
  return (
    <>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="generator" content={`handover-sim ${result.version}`} />
      <title>{verdictHeading(result)}</title>
    </>
  )
}

function Body({ result }: { readonly result: RunReport }) {
  const scenarios = linkScenarios(result.scenarios)
  return (
    <>
      <a class="report-skip" href="#scenarios">
        Skip to the scenarios
      </a>
      <main class="report">
        <Overview result={result} />
        <Causes result={result} linked={scenarios} />
        <OutsideFailures result={result} />
        <ReportScenarios result={result} scenarios={scenarios} timelines={collectTimelineData(scenarios)} />
        <Warnings scenarios={scenarios} />
        <Foot version={result.version} />
      </main>
      <div id="panel-place" />
      <p id="status" class="visually-hidden" role="status" />
    </>
  )
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'search'],
  ['j k, arrow keys', 'next and previous scenario or row'],
  ['Home End, Page Up Page Down', 'further in a timeline'],
  ['f F', 'next and previous failure in a timeline'],
  ['Enter', 'open a scenario, or the entries behind a row'],
  ['Escape', 'close them'],
]

function Foot({ version }: { readonly version: string }) {
  return (
    <footer class="report-foot">
      <details class="report-keys scripted-only">
        <summary>Keyboard</summary>
        <dl>
          {KEYS.map(([keys, what]) => (
            <>
              <dt>{keys}</dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
      </details>
      <p>
        handover-sim {visible(version)}. Keys and signatures are masked. This file holds the whole report and loads
        nothing.
      </p>
    </footer>
  )
}
