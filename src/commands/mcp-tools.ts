/** Defines the tools of `handover-sim mcp`: what a coding assistant can do with a simulator, each by calls of its control API. */
import type { McpServer, ServerContext, ToolAnnotations, ToolCallback } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { keysOf } from '../base/objects.ts'
import { formatMs } from '../base/text/terminal-text.ts'
import { createLog } from '../pages/reporters/log.ts'
import { ENDPOINTS } from '../platform/contract/endpoints.ts'
import { WEBHOOK_EVENTS } from '../platform/contract/events.ts'
import { type Entry, EntryKind } from '../platform/journal/entry.ts'
import { explainEntry } from '../platform/wording/hints.ts'
import type { PlayedScenario, ReadinessReport, ReadinessTrial } from '../server/control/readiness.ts'
import type { SimulatorState } from '../server/control/routes/workspace.ts'

/** The control API of the workspace of this session. Rejects with `ToolError` when it refuses. */
export interface WorkspaceClient {
  readonly url: string
  get<Body>(path: string, signal: AbortSignal): Promise<Body>
  send<Body>(
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<Body>
}

/** The message of a refusal, for the assistant. `body`: the whole answer. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly body: unknown

  constructor(message: string, body?: unknown) {
    super(message)
    this.body = body
  }
}

/** What a tool answers: text for a reader, and the same as data. */
interface ToolResult {
  readonly text: string
  readonly data: Record<string, unknown>
}

const chatId = z.string().optional().describe('The chat; by default the newest')
const COLUMNS = 160
const MAX_ENTRIES = 10_000
const DEFAULT_LINES = 40
const finding = z.object({ code: z.string(), level: z.string(), happened: z.string(), hint: z.string() })
const line = z.object({ seq: z.number(), kind: z.string(), line: z.string() })

const Explanation = z.object({
  entry: z.unknown(),
  causes: z.array(line),
  effects: z.array(line),
  wrong: z.array(z.object({ seq: z.number(), why: z.string().nullable(), hint: z.string().nullable() })),
  diagnosis: z.object({ happened: z.string(), fix: z.string() }).nullable().describe('Why a delivery was refused'),
  findings: z.array(z.object({ seq: z.number(), rule: z.string(), message: z.string() })),
  assumptions: z.array(z.object({ name: z.string(), behaviour: z.string() })),
  checks: z.array(z.object({ check: z.string(), happened: z.string(), hint: z.string() })),
  pages: z.array(z.string()).describe('Resources of this server that say more'),
})

/** For a reader. `chatId`: the chat that it is about; undefined for an entry. */
function explanationText(explanation: z.infer<typeof Explanation>, chatId: string | undefined): string {
  const { entry, causes, effects, wrong, diagnosis, checks, findings, assumptions, pages } = explanation
  const parts: Readonly<Record<string, readonly string[]>> = {
    'Caused by': causes.map(cause => cause.line),
    Caused: effects.map(effect => effect.line),
    Wrong: wrong.map(({ seq, why, hint }) => [`#${seq} ${why ?? 'failed'}`, hint].filter(Boolean).join('; ')),
    Diagnosis: diagnosis === null ? [] : [`${diagnosis.happened} Fix: ${diagnosis.fix}`],
    Checks: checks.map(check => `${check.check}: ${check.happened} ${check.hint}`),
    Findings: findings.map(finding => `#${finding.seq} ${finding.rule}: ${finding.message}`),
    'Rests on assumptions': assumptions.map(assumption => `${assumption.name}: ${assumption.behaviour}`),
    Read: pages,
  }
  const head = chatId === undefined ? JSON.stringify(entry) : `Chat ${chatId}`
  const rows = Object.entries(parts).flatMap(([title, lines]) => (lines.length === 0 ? [] : [`${title}:`, ...lines]))
  return rows.length === 0 ? `${head}: nothing is wrong so far.` : [head, ...rows].join('\n')
}

/** One line for each entry, as `start --output compact` prints them, after its number; none for an event, which its delivery shows. */
function formatEntries(entries: readonly Entry[]): z.infer<typeof line>[] {
  const log = createLog({ style: 'compact', colorLevel: 0, columns: COLUMNS })
  return entries.flatMap(entry => {
    const text = log(entry).trimEnd()
    return text === '' ? [] : [{ seq: entry.seq, kind: entry.kind, line: `#${entry.seq} ${text}` }]
  })
}

const query = (values: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString()

const READS = { readOnlyHint: true, openWorldHint: false } as const
const ACTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const

/** What a tool is run with beside its input. */
interface ToolCall {
  readonly control: WorkspaceClient
  readonly signal: AbortSignal
  readonly context: ServerContext
}

interface ToolDefinition<Input> {
  readonly title: string
  readonly description: string
  readonly inputSchema: Input
  readonly outputSchema: z.ZodType
  readonly annotations: ToolAnnotations
}

/** Returns a function that adds the tool. A refusal is an answer that the assistant reads, not a failure of the protocol. */
const tool =
  <Input extends z.ZodType>(
    name: string,
    definition: ToolDefinition<Input>,
    run: (input: z.infer<Input>, call: ToolCall) => Promise<ToolResult>,
  ) =>
  (server: McpServer, control: WorkspaceClient) =>
    server.registerTool(name, definition, (async (input: z.infer<Input>, context: ServerContext) => {
      try {
        const { text, data } = await run(input, { control, signal: context.mcpReq.signal, context })
        return { content: [{ type: 'text', text }], structuredContent: data }
      } catch (error) {
        if (!(error instanceof ToolError)) throw error
        return { content: [{ type: 'text', text: error.message }], isError: true }
      }
    }) as ToolCallback<Input>)

async function newestChat(control: WorkspaceClient, signal: AbortSignal): Promise<string> {
  const { chats } = await control.get<{ chats: { chat_id: string }[] }>('/chats', signal)
  const newest = chats.at(-1)
  if (newest === undefined) throw new ToolError('There is no chat yet: call open_chat first.')
  return newest.chat_id
}

const fetchJournal = (control: WorkspaceClient, filter: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
  control.get<{ entries: Entry[]; first_seq: number; next_seq: number }>(
    `/journal?${query({ limit: MAX_ENTRIES, ...filter })}`,
    signal,
  )

const TOOLS = [
  tool(
    'status',
    {
      title: 'Status',
      description:
        'Address and keys of the simulator, webhook, chats, who plays the agent, and what the traffic so far shows of the service. Call it first.',
      inputSchema: z.object({}),
      outputSchema: z.object({
        url: z.string().describe('What the service must use as the address of the platform'),
        page: z.string(),
        api_key: z.string().describe('What the service must use as its API key; it also signs the webhooks'),
        bot_id: z.number(),
        webhook_url: z.string().nullable(),
        agent: z.object({ plays: z.string(), verbs: z.array(z.string()), problem: z.string().nullable() }),
        chats: z.array(z.object({ chat_id: z.string(), status: z.string() })),
        readiness: z.string(),
        wrong: z.array(z.object({ check: z.string(), happened: z.string(), hint: z.string() })),
        next_seq: z.number(),
      }),
      annotations: READS,
    },
    async (_, { control, signal }) => {
      const [state, keys, agent, readiness] = await Promise.all([
        control.get<SimulatorState>('/state', signal),
        control.get<{ api_key: string; bot_id: number; url: string; webhook_url: string | null }>('/keys', signal),
        control.get<{ plays: string; verbs: string[]; problem?: string | null }>('/agent', signal),
        control.get<ReadinessReport>('/readiness', signal),
      ])
      const wrong = readiness.checks.flatMap(({ id, state: shown, finding }) =>
        shown === 'wrong' && finding !== null ? [{ check: id, happened: finding.happened, hint: finding.hint }] : [],
      )
      const data = {
        url: keys.url,
        page: `${control.url}/`,
        api_key: keys.api_key,
        bot_id: keys.bot_id,
        webhook_url: keys.webhook_url,
        agent: { plays: agent.plays, verbs: agent.verbs, problem: agent.problem ?? null },
        chats: state.chats.map(({ chat_id, status }) => ({ chat_id, status })),
        readiness: readiness.text,
        wrong,
        next_seq: state.journal.next_seq,
      }
      const webhook = data.webhook_url ?? 'none: events go nowhere; set it with configure, knob webhook.url'
      const rows = [
        `Platform: ${data.url}, API key ${data.api_key}, bot_id ${data.bot_id}`,
        `Webhook: ${webhook}`,
        `Agent: ${agent.verbs.length > 0 ? `plays by ${agent.plays}: ${agent.verbs.join(', ')}` : (data.agent.problem ?? 'no agent driver: a person plays the agent in the help desk')}`,
        `Chats: ${data.chats.length === 0 ? 'none' : data.chats.map(chat => `${chat.chat_id} (${chat.status})`).join(', ')}`,
        readiness.text,
        ...wrong.map(check => `Wrong: ${check.check}: ${check.happened} ${check.hint}`),
      ]
      return { text: rows.join('\n'), data }
    },
  ),

  tool(
    'open_chat',
    {
      title: 'Open a chat',
      description: 'Begins a new chat of an end user. With ask_for_agent the user then asks for a human agent.',
      inputSchema: z.object({
        language: z.string().optional().describe('Such as en or nb'),
        ask_for_agent: z.boolean().optional(),
      }),
      outputSchema: z.object({ chat_id: z.string(), user_id: z.string(), ack: z.unknown() }),
      annotations: ACTS,
    },
    async ({ language, ask_for_agent }, { control, signal }) => {
      const chat = await control.send<{ chat_id: string; user_id: string }>(
        'POST',
        '/chats',
        language === undefined ? {} : { language },
        signal,
      )
      const { chat_id, user_id } = chat
      let ack: Ack | null = null
      if (ask_for_agent) {
        const pressed = await control.send<UserAction>(
          'POST',
          `/chats/${encodeURIComponent(chat_id)}/press?wait=ack`,
          { button: 'handover' },
          signal,
        )
        ack = pressed.ack ?? null
      }
      const asked = ask_for_agent ? ` The user asked for an agent. ${ackText(ack)}` : ''
      return { text: `Chat ${chat_id} is open.${asked}`, data: { chat_id, user_id, ack } }
    },
  ),

  tool(
    'user',
    {
      title: 'Act as the end user',
      description:
        'Writes a text, or presses a button such as handover, and waits for the answer of the webhook. Or leaves the chat: closes it, or deletes its log as well; a later text comes back.',
      inputSchema: z.object({
        chat_id: chatId,
        text: z.string().optional(),
        press: z.string().optional().describe('A button: handover asks for a human agent'),
        leave: z.enum(['close', 'delete']).optional().describe('Sends no event'),
      }),
      outputSchema: z.object({ chat_id: z.string(), delivery_id: z.string().nullable(), ack: z.unknown() }),
      annotations: ACTS,
    },
    async ({ chat_id, text, press, leave }, { control, signal }) => {
      if ([text, press, leave].filter(act => act !== undefined).length !== 1)
        throw new ToolError('Give one of text, press and leave.')
      const id = chat_id ?? (await newestChat(control, signal))
      const chat = `/chats/${encodeURIComponent(id)}`
      if (leave !== undefined) {
        await control.send('POST', `${chat}/${leave}`, undefined, signal)
        return { text: `The user ${leave}s the chat.`, data: { chat_id: id, delivery_id: null, ack: null } }
      }
      const [act, body] = press === undefined ? ['messages', { text }] : ['press', { button: press }]
      const path = `${chat}/${act}?wait=ack`
      const { delivery_id, ack = null } = await control.send<UserAction>('POST', path, body, signal)
      return { text: ackText(ack), data: { chat_id: id, delivery_id, ack } }
    },
  ),

  tool(
    'agent',
    {
      title: 'Act as the human agent',
      description:
        'Plays the agent in the help desk by the verbs of the agent driver: accept, says (with text), type, stop, leave, away, back. The verb inbox reads what the agent sees.',
      inputSchema: z.object({
        verb: z.string(),
        chat_id: chatId,
        text: z.string().optional(),
        with: z.record(z.string(), z.unknown()).optional().describe('For a verb of your own, such as does.transfer'),
      }),
      outputSchema: z.looseObject({ outcome: z.string(), how: z.string(), items: z.array(z.unknown()).optional() }),
      annotations: ACTS,
    },
    async ({ verb, chat_id, text, with: parameters }, { control, signal }) => {
      const id = chat_id ?? (verb === 'away' || verb === 'back' ? undefined : await newestChat(control, signal))
      const response =
        verb === 'inbox'
          ? await control.get<AgentResponse>(`/agent/inbox?${query({ chat_id: id })}`, signal)
          : await control.send<AgentResponse>('POST', '/agent', { verb, chat_id: id, text, with: parameters }, signal)
      const shown =
        response.items?.map(item => JSON.stringify(item)).join('\n') || 'The agent sees nothing of this chat.'
      const result = `${verb}: ${response.outcome}${response.error === undefined ? '' : `, ${response.error}`} (${response.how})`
      return { text: verb === 'inbox' ? `${result}\n${shown}` : result, data: { ...response } }
    },
  ),

  tool(
    'wait_for',
    {
      title: 'Wait for a call or an event',
      description:
        'Waits until the journal has an entry, at once when it exists already. After the timeout it returns the nearest entries, which show what came instead.',
      inputSchema: z.object({
        call: z.enum(keysOf(ENDPOINTS)).optional().describe('A call that the service makes'),
        event: z.enum(keysOf(WEBHOOK_EVENTS)).optional(),
        note: z.string().optional(),
        status: z.number().int().optional(),
        chat_id: z.string().optional(),
        after: z.number().int().optional().describe('Only entries with a higher seq count'),
        timeout: z.string().optional().describe('A duration, by default 5s'),
      }),
      outputSchema: z.object({ found: z.boolean(), entry: line.nullable(), nearest: z.array(line) }),
      annotations: READS,
    },
    async (filter, { control, signal }) => {
      try {
        const entry = await control.get<Entry>(`/wait?${query(filter)}`, signal)
        const { seq, kind } = entry
        const name = kind === 'event' ? entry.event : kind
        const [shown = { seq, kind, line: `#${seq} ${name}` }] = formatEntries([entry])
        return { text: shown.line, data: { found: true, entry: shown, nearest: [] } }
      } catch (error) {
        if (!(error instanceof ToolError && isTimeout(error.body))) throw error
        const bySeq = new Map(
          Object.values(error.body.nearest).flatMap(entries => entries.map(entry => [entry.seq, entry])),
        )
        const nearest = formatEntries([...bySeq.values()].sort((a, b) => a.seq - b.seq))
        const text = [error.message, 'Nearest:', ...nearest.map(line => line.line)].join('\n')
        return { text, data: { found: false, entry: null, nearest } }
      }
    },
  ),

  tool(
    'journal',
    {
      title: 'Read the journal',
      description:
        'Everything that happened, one line for each entry: calls of the service, events, deliveries, acts of user and agent. Use explain for one entry.',
      inputSchema: z.object({
        after: z.number().int().optional(),
        chat_id: z.string().optional(),
        kind: z.enum(EntryKind.options).optional(),
        limit: z.number().int().positive().optional().describe(`The latest so many, by default ${DEFAULT_LINES}`),
        whole: z.boolean().optional().describe('The entries as JSON, with headers and bodies, in place of lines'),
      }),
      outputSchema: z.object({ lines: z.array(line), left_out: z.number(), next_seq: z.number() }),
      annotations: READS,
    },
    async ({ limit = DEFAULT_LINES, whole = false, ...filter }, { control, signal }) => {
      const { entries, next_seq } = await fetchJournal(control, filter, signal)
      const latest = entries.slice(-limit)
      const lines = formatEntries(entries).slice(-limit)
      const left_out = entries.length - latest.length
      const rows = whole ? latest.map(entry => JSON.stringify(entry)) : lines.map(line => line.line)
      const more = left_out > 0 ? [`${left_out} earlier entries not shown: pass limit.`] : []
      return { text: [...more, ...rows].join('\n') || 'Nothing happened yet.', data: { lines, left_out, next_seq } }
    },
  ),

  tool(
    'explain',
    {
      title: 'Explain an entry or a chat',
      description:
        'With seq: one entry of the journal in full, what caused it, what it caused, why it failed, what to do (for a refused delivery, signatures of usual mistakes are tried), and which assumptions about the platform it rests on. Without: what is wrong in a chat.',
      inputSchema: z.object({ seq: z.number().int().optional(), chat_id: chatId }),
      outputSchema: Explanation,
      annotations: ACTS,
    },
    async ({ seq, chat_id }, { control, signal }) => {
      const id = seq === undefined ? (chat_id ?? (await newestChat(control, signal))) : undefined
      const [{ entries }, { assumptions }, { checks }] = await Promise.all([
        fetchJournal(control, { chat_id: id }, signal),
        control.get<{ assumptions: { name: string; behaviour: string }[] }>('/assumptions', signal),
        control.get<ReadinessReport>('/readiness', signal),
      ])
      const bySeq = new Map(entries.map(entry => [entry.seq, entry]))
      const entry = seq === undefined ? undefined : bySeq.get(seq)
      if (seq !== undefined && entry === undefined) throw new ToolError(`The journal has no entry ${seq} (any more).`)
      const causes: Entry[] = []
      for (let cause = entry?.cause; cause != null; cause = bySeq.get(cause)?.cause) {
        const causeEntry = bySeq.get(cause)
        if (causeEntry === undefined) break
        causes.unshift(causeEntry)
      }
      const effects = entry === undefined ? [] : entries.filter(({ cause }) => cause === entry.seq)
      const examined = entry === undefined ? entries : [entry, ...effects]
      const wrong = examined.flatMap(entry => {
        const explained = explainEntry(entry)
        return explained === null ? [] : [{ seq: entry.seq, ...explained }]
      })
      const findings = examined.flatMap(entry =>
        entry.kind === 'api' ? entry.findings.map(finding => ({ seq: entry.seq, ...finding })) : [],
      )
      // Signed in other ways, to see what the service compares. These events have no effect on a help desk.
      const refused = examined.find(
        entry => entry.kind === 'delivery' && (entry.status === 401 || entry.status === 403),
      )
      const diagnosis =
        refused?.kind === 'delivery' && refused.triggered !== true
          ? await control.send<Diagnosis>('POST', `/deliveries/${refused.delivery_id}/diagnose`, {}, signal)
          : null
      const rests = new Set(examined.flatMap(entry => (entry.kind === 'api' ? Object.keys(entry.unspecified) : [])))
      const shownBy = checks.flatMap(({ id: check, state, finding, seq: at, chat_id: of }) => {
        const isAbout = entry === undefined ? of === id : at === entry.seq
        return state === 'wrong' && finding !== null && isAbout
          ? [{ check, happened: finding.happened, hint: finding.hint }]
          : []
      })
      const pages = [
        ...shownBy.map(({ check }) => `docs://checks/${check}`),
        ...(findings.length > 0 ? ['docs://lint'] : []),
        ...(rests.size > 0 ? ['docs://assumptions'] : []),
        ...(wrong.length > 0 ? ['docs://troubleshooting'] : []),
      ]
      const data = {
        entry: entry ?? null,
        causes: formatEntries(causes),
        effects: formatEntries(effects),
        wrong,
        diagnosis: diagnosis === null ? null : { happened: diagnosis.text, fix: diagnosis.fix },
        findings,
        assumptions: assumptions
          .filter(({ name }) => rests.has(name))
          .map(({ name, behaviour }) => ({ name, behaviour })),
        checks: shownBy,
        pages,
      }
      return { text: explanationText(data, id), data }
    },
  ),

  tool(
    'play',
    {
      title: 'Run a scenario',
      description:
        'Runs a scenario against the service, beside the chats of the simulator, and says what failed at which step. builtin: a shipped one, such as happy-path.yaml; yaml: the text of a scenario file.',
      inputSchema: z.object({
        builtin: z.string().optional(),
        yaml: z.string().optional(),
        repeat: z.number().int().positive().optional(),
        seed: z.number().int().optional(),
        timeout: z.string().optional(),
      }),
      outputSchema: z.looseObject({ outcome: z.string(), seed: z.number(), failures: z.array(z.unknown()) }),
      annotations: { ...ACTS, idempotentHint: false },
    },
    async (body, { control, signal }) => {
      const { entries: _, ...played } = await control.send<PlayedScenario>('POST', '/plays', body, signal)
      const { outcome, reason, failures, seed, duration_ms } = played
      const failed = failures.map(
        ({ line: at, step, expected, happened, hint }) =>
          `- ${at === null ? '' : `line ${at}, `}${step === null ? '' : `step ${step}: `}expected ${expected}; ${happened}${hint === null ? '' : `\n  hint: ${hint}`}`,
      )
      const head = `${outcome}${reason === null ? '' : `: ${reason}`} in ${formatMs(duration_ms)}, seed ${seed}`
      return { text: [head, ...failed].join('\n'), data: { ...played } }
    },
  ),

  tool(
    'certify',
    {
      title: 'Run checks of the certification',
      description:
        'Tries checks against the service, one after the other, beside the chats of the simulator: what each found and how to fix it. `npx handover-sim certify` writes the whole certificate.',
      inputSchema: z.object({
        only: z
          .array(z.string())
          .optional()
          .describe('Beginnings of ids, such as SIG or FLW-06; by default all that can be tried'),
      }),
      outputSchema: z.object({
        checks: z.array(
          z.object({
            check: z.string(),
            title: z.string(),
            outcome: z.string(),
            reason: z.string().nullable(),
            findings: z.array(finding),
          }),
        ),
        not_tried: z.array(z.object({ check: z.string(), reason: z.string() })),
      }),
      annotations: { ...ACTS, idempotentHint: true },
    },
    async ({ only }, { control, signal, context }) => {
      const { checks } = await control.get<ReadinessReport>('/readiness', signal)
      const chosen = checks.filter(
        ({ id }) => only === undefined || only.some(begin => id.startsWith(begin.toUpperCase())),
      )
      if (chosen.length === 0)
        throw new ToolError(
          `No check begins with ${only?.join(', ')}: they are ${checks.map(({ id }) => id).join(', ')}.`,
        )
      const possible = chosen.filter(({ cannot_try }) => cannot_try === null)
      const not_tried = chosen.flatMap(({ id, cannot_try }) =>
        cannot_try === null ? [] : [{ check: id, reason: cannot_try }],
      )
      const progressToken = context.mcpReq._meta?.progressToken
      const tried: {
        check: string
        title: string
        outcome: string
        reason: string | null
        findings: z.infer<typeof finding>[]
      }[] = []
      let progress = 0
      for (const { id, title } of possible) {
        let message: string
        try {
          const path = `/readiness/${id}/try`
          const { outcome, reason, findings } = await control.send<ReadinessTrial>('POST', path, undefined, signal)
          tried.push({ check: id, title, outcome, reason, findings: findings.map(({ entries: _, ...rest }) => rest) })
          message = `${id} ${outcome}`
        } catch (error) {
          if (!(error instanceof ToolError)) throw error
          not_tried.push({ check: id, reason: error.message })
          message = `${id} not tried`
        }
        progress++
        if (progressToken !== undefined)
          await context.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: possible.length, message },
          })
      }
      const rows = tried.map(({ check, title, outcome, reason, findings }) =>
        [
          `${check} ${outcome}: ${title}${reason === null ? '' : ` (${reason})`}`,
          ...findings.map(({ level, happened, hint }) => `  ${level} ${happened}\n  hint: ${hint}`),
        ].join('\n'),
      )
      const left = not_tried.map(({ check, reason }) => `${check} not tried: ${reason}`)
      return { text: [...rows, ...left].join('\n'), data: { checks: tried, not_tried } }
    },
  ),

  tool(
    'configure',
    {
      title: 'Change the simulator',
      description:
        'Sets knobs (such as webhook.url or typing.webhook), the availability, a fault, or moves a virtual clock; reset removes all chats, faults and journal entries.',
      inputSchema: z.object({
        reset: z.boolean().optional(),
        knobs: z.record(z.string(), z.unknown()).optional().describe('By dotted name: docs://assumptions lists them'),
        availability: z.enum(['OPEN', 'CLOSED']).optional(),
        fault: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('As docs://faults says, such as {"on":{"api":"message"},"respond":{"status":503},"times":1}'),
        clear_faults: z.boolean().optional(),
        advance: z.string().optional().describe('How far a virtual clock goes on, such as 10m'),
      }),
      outputSchema: z.object({ done: z.array(z.string()) }),
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    },
    async ({ reset, knobs, availability, fault, clear_faults, advance }, { control, signal }) => {
      const done: string[] = []
      const act = async (
        what: string,
        ...call: [method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body: unknown]
      ) => {
        await control.send(...call, signal)
        done.push(what)
      }
      if (reset) await act('reset', 'POST', '/reset', undefined)
      if (knobs !== undefined) await act(`set ${Object.keys(knobs).join(', ')}`, 'PATCH', '/config', knobs)
      if (availability !== undefined)
        await act(`availability ${availability}`, 'PUT', '/availability', { availability })
      if (clear_faults) await act('cleared faults', 'DELETE', '/faults', undefined)
      if (fault !== undefined) await act('set a fault', 'POST', '/faults', fault)
      if (advance !== undefined) await act(`moved the clock by ${advance}`, 'POST', '/clock/advance', { by: advance })
      if (done.length === 0)
        throw new ToolError('Give one of reset, knobs, availability, fault, clear_faults and advance.')
      return { text: `Done: ${done.join('; ')}.`, data: { done } }
    },
  ),
]

export function addTools(server: McpServer, control: WorkspaceClient): void {
  for (const add of TOOLS) add(server, control)
}

interface Ack {
  readonly status: number | null
  readonly duration_ms: number
  readonly error?: string
}

interface UserAction {
  readonly delivery_id: string | null
  readonly ack?: Ack | null
}

interface Diagnosis {
  readonly text: string
  readonly fix: string
}

interface AgentResponse {
  readonly outcome: string
  readonly how: string
  readonly error?: string
  readonly items?: readonly unknown[]
}

const ackText = (ack: Ack | null): string => {
  if (ack === null) return 'No event was sent to the webhook: in this state the platform sends none.'
  const took = formatMs(ack.duration_ms)
  return ack.error === undefined
    ? `The webhook answered ${ack.status} in ${took}.`
    : `The webhook did not acknowledge the event: ${ack.error} (${took}). Call explain.`
}

const isTimeout = (body: unknown): body is { nearest: Record<string, Entry[]> } =>
  typeof body === 'object' && body !== null && 'nearest' in body
