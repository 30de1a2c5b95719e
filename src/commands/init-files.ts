/** The files that `handover-sim init` writes: config, agent driver, scenarios, a test, a workflow of CI. */

export const DESKS = {
  own: 'it has an API of its own',
  zendesk: 'its API is like that of Zendesk: tickets with comments',
  intercom: 'its API is like that of Intercom: conversations with parts',
  none: 'none yet, or no API: I act by hand',
} as const
export type Desk = keyof typeof DESKS

export const RUNNERS = {
  vitest: 'vitest',
  jest: 'jest',
  node: 'node --test',
  pytest: 'pytest',
  none: 'no test',
} as const
export type Runner = keyof typeof RUNNERS

export const WORKFLOWS = { github: 'GitHub Actions', gitlab: 'GitLab', none: 'no workflow' } as const
export type Workflow = keyof typeof WORKFLOWS

export interface InitChoices {
  readonly desk: Desk
  readonly webhookUrl: string
  readonly runner: Runner
  readonly workflow: Workflow
  /** Whether the tests of the project are ES modules, as `type` of package.json says. */
  readonly isModule: boolean
}

const schema = (name: string) => `# yaml-language-server: $schema=./node_modules/handover-sim/schema/${name}.v1.json\n`

/** The text of each file by its path. */
export function initFiles({ desk, webhookUrl, runner, workflow, isModule }: InitChoices): Record<string, string> {
  const { origin } = new URL(webhookUrl)
  const files: Record<string, string> = {
    'handover-sim.config.yaml': `${schema('config')}version: 1
webhook: { url: ${JSON.stringify(webhookUrl)} }   # your service, which receives the events
agent_driver: agent-driver.yaml
`,
    'agent-driver.yaml': `${schema('driver')}${DRIVERS[desk](origin)}`,
    'scenarios/takeover.yaml': `${schema('scenario').replace('./', '../')}${TAKEOVER}`,
    'scenarios/second-text.yaml': `${schema('scenario').replace('./', '../')}${SECOND_TEXT}`,
  }
  const test = TESTS[runner]?.(isModule)
  if (test !== undefined) files[test.path] = test.text
  if (workflow === 'github') files['.github/workflows/handover.yaml'] = GITHUB
  if (workflow === 'gitlab') files['.gitlab-ci.yml'] = GITLAB
  return files
}

const DRIVERS: Readonly<Record<Desk, (origin: string) => string>> = {
  own: origin => `# How an agent acts in your help desk, and what the agent sees there. Correct the addresses.
version: 1
http: ${origin}
accept: { POST: "/desk/$(chat.id)/accept" }
says:   { POST: "/desk/$(chat.id)/messages", json: { text: $(text) } }
leave:  { POST: "/desk/$(chat.id)/close" }
# A list, oldest first: [{ "request": true }, { "text": "Hello" }]
inbox:  { GET: "/desk/$(chat.id)/inbox" }
`,
  zendesk:
    () => `# A help desk like Zendesk, in which your service creates one ticket for each chat, with the chat as external_id.
# The desk knows tickets by an id of its own: let your service offer these routes by chat id in tests, or use commands
# (accept: { exec: [...] }) that look the ticket up.
version: 1
http: http://127.0.0.1:3100/api/v2
headers: { authorization: "Bearer $(env.DESK_TOKEN)" }
accept: { PUT: "/tickets/$(chat.id)", json: { ticket: { status: open, assignee_email: anna@example.test } } }
says:   { PUT: "/tickets/$(chat.id)", json: { ticket: { comment: { body: $(text), public: true } } } }
leave:  { PUT: "/tickets/$(chat.id)", json: { ticket: { status: solved } } }
# Must answer a list, oldest first: [{ "request": true }, { "text": "Hello" }]
inbox:  { GET: "/tickets/$(chat.id)/inbox" }
`,
  intercom: () => `# A help desk like Intercom, in which your service creates one conversation for each chat.
# The desk knows conversations by an id of its own: let your service offer these routes by chat id in tests, or use commands
# (accept: { exec: [...] }) that look the conversation up.
version: 1
http: http://127.0.0.1:3100
headers: { authorization: "Bearer $(env.DESK_TOKEN)" }
accept: { POST: "/conversations/$(chat.id)/parts", json: { message_type: assignment, type: admin, assignee_id: "1" } }
says:   { POST: "/conversations/$(chat.id)/reply", json: { message_type: comment, type: admin, body: $(text) } }
leave:  { POST: "/conversations/$(chat.id)/parts", json: { message_type: close, type: admin } }
# Must answer a list, oldest first: [{ "request": true }, { "text": "Hello" }]
inbox:  { GET: "/conversations/$(chat.id)/inbox" }
`,
  none: () => `# You act in your help desk when a scenario asks for it. In CI, a verb that is manual counts as missing.
version: 1
accept: manual
says: manual
leave: manual
`,
}

const TAKEOVER = `version: 1
name: An agent takes over
steps:
  - press: handover
  - agent: accept
  - expect: start
  - user: Where is my parcel?
  - agent: { sees: Where is my parcel? }
  - agent: { says: It is on its way. }
  - expect: { message: { message: It is on its way. } }
  - agent: leave
  - expect: end
`

const SECOND_TEXT = `version: 1
name: Two texts come once each, in order
steps:
  - press: handover
  - agent: accept
  - expect: start
  - user: Hello?
  - user: Is anyone there?
  - agent: { sees: Hello? }
  - agent: { sees: Is anyone there? }
  - agent: leave
  - expect: end
`

const RUN = 'npx handover-sim run --self-test'
const WHY = `Runs the scenarios of the folder scenarios against the built-in service, not yours. When yours runs beside this test,
// at the address of handover-sim.config.yaml, leave out --self-test, and change the title.`

type TestFile = (isModule: boolean) => { readonly path: string; readonly text: string }

const TESTS: Readonly<Partial<Record<Runner, TestFile>>> = {
  vitest: () => ({
    path: 'test/handover.test.js',
    text: `import { execFileSync } from 'node:child_process'
import { test } from 'vitest'

// ${WHY}
test('the scenarios pass against the built-in service', { timeout: 120_000 }, () => {
  execFileSync('npx', ['handover-sim', 'run', '--self-test'], { stdio: 'inherit' })
})
`,
  }),
  jest: isModule => ({
    path: 'test/handover.test.js',
    text: `${isModule ? "import { execFileSync } from 'node:child_process'" : "const { execFileSync } = require('node:child_process')"}

// ${WHY}
test('the scenarios pass against the built-in service', () => {
  execFileSync('npx', ['handover-sim', 'run', '--self-test'], { stdio: 'inherit' })
}, 120_000)
`,
  }),
  node: isModule => ({
    path: 'test/handover.test.js',
    text: `${
      isModule
        ? "import { execFileSync } from 'node:child_process'\nimport { test } from 'node:test'"
        : "const { execFileSync } = require('node:child_process')\nconst { test } = require('node:test')"
    }

// ${WHY}
test('the scenarios pass against the built-in service', () => {
  execFileSync('npx', ['handover-sim', 'run', '--self-test'], { stdio: 'inherit' })
})
`,
  }),
  pytest: () => ({
    path: 'tests/test_handover.py',
    text: `import subprocess


# Runs the scenarios of the folder scenarios against the built-in service, not yours. When yours runs beside this test,
# at the address of handover-sim.config.yaml, leave out --self-test, and change the name.
def test_the_scenarios_pass_against_the_built_in_service():
    subprocess.run(["npx", "handover-sim", "run", "--self-test"], check=True, timeout=120)
`,
  }),
}

const GITHUB = `# It tests the built-in service, not yours. When the workflow starts yours, at the address of handover-sim.config.yaml,
# leave out --self-test, and change the names.
name: handover self-test
on: [push, pull_request]
permissions: { contents: read }
jobs:
  handover:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24, cache: npm }
      - run: npm ci
      - name: scenarios against the built-in service
        run: ${RUN} --report pretty,html=out/report.html
      - uses: actions/upload-artifact@v4
        if: always()
        with: { name: handover-report, path: out/report.html }
`

const GITLAB = `# It tests the built-in service, not yours. When the job starts yours, at the address of handover-sim.config.yaml,
# leave out --self-test, and change the name.
handover-self-test:
  image: node:24
  script:
    - npm ci
    - ${RUN} --report pretty,junit=out/junit.xml,html=out/report.html
  artifacts:
    when: always
    paths: [out]
    reports: { junit: out/junit.xml }
`
