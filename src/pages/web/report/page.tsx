/** Renders a report as one HTML file that loads nothing and is readable without scripts. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { packagePath } from '../../../base/runtime/node.ts'
import { visible } from '../../../base/text/terminal-text.ts'

export interface ReportPageOptions {
  readonly title: string
  /** Of handover-sim. */
  readonly version: string
  /** `scenario` or `check`: what the page lists, in an element whose id is the plural. */
  readonly noun: 'scenario' | 'check'
  readonly children: ComponentChildren
}

export function reportPage({ title, version, noun, children }: ReportPageOptions): string {
  const script = readAsset('report.js')
  const style = readAsset('report.css')
  const head = (
    <>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={policyFor([MARK_SCRIPTED, script], style)} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="generator" content={`handover-sim ${version}`} />
      <title>{visible(title)}</title>
    </>
  )
  const body = (
    <>
      <a class="report-skip" href={`#${noun}s`}>
        Skip to the {noun}s
      </a>
      <main class="report">
        {children}
        <footer class="report-foot">
          <details class="report-keys scripted-only">
            <summary>Keyboard</summary>
            <dl>
              {Object.entries(describeKeys(noun)).map(([key, what]) => (
                <>
                  <dt>{key}</dt>
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
      </main>
      <div id="panel-place" />
      <p id="status" class="visually-hidden" role="status" />
    </>
  )
  return `<!doctype html>
<html lang="en">
<head>
${renderToString(head)}
<style>${style}</style>
<script>${MARK_SCRIPTED}</script>
</head>
<body>
${renderToString(body)}
<script>${script}</script>
</body>
</html>
`
}

const describeKeys = (noun: ReportPageOptions['noun']) => ({
  '/': 'search',
  'j k, arrow keys': `next and previous ${noun} or row`,
  'Home End, Page Up Page Down': 'further in a timeline',
  'f F': 'next and previous failure in a timeline',
  Enter: `open a ${noun}, or the entries behind a row`,
  Escape: 'close them',
})

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
