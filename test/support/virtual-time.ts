/**
 * Lets time stand still for a test, and move to the next timer as soon as nothing else is to be done: what waits for seconds
 * then takes none, and no machine is too slow for it. `setup.ts` imports it before any module of src reads the time.
 *
 * Only for work in this process: answers of the network and of other processes take real time, in which the timers pass.
 */
const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  abortAfter: AbortSignal.timeout.bind(AbortSignal),
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
}

/** 9 o'clock on a Monday, in business hours. */
const START_MS = Date.UTC(2026, 0, 5, 9)
/** How often the process must have had nothing to do. Work that needs several turns of the event loop is not overtaken. */
const IDLE_TURNS = 4

type Run = (...values: never[]) => void

interface VirtualTimer {
  atMs: number
  readonly run: () => void
  readonly everyMs: number | null
  ref(): VirtualTimer
  unref(): VirtualTimer
}

class VirtualTime {
  elapsedMs = 0
  /** Work of other threads, such as signatures. */
  open = 0
  readonly #timers = new Set<VirtualTimer>()
  #wake: () => void = () => {}
  #isOver = false

  constructor() {
    void this.#move()
  }

  add(run: () => void, delayMs: number, everyMs: number | null): VirtualTimer {
    const atMs = this.elapsedMs + Math.max(1, delayMs || 0)
    const timer: VirtualTimer = { atMs, run, everyMs, ref: () => timer, unref: () => timer }
    this.#timers.add(timer)
    this.#wake()
    return timer
  }

  remove(timer: VirtualTimer): void {
    this.#timers.delete(timer)
  }

  async track<T>(work: Promise<T>): Promise<T> {
    this.open++
    try {
      return await work
    } finally {
      this.open--
      this.#wake()
    }
  }

  end(): void {
    this.#isOver = true
    this.#timers.clear()
    this.#wake()
  }

  async #move(): Promise<void> {
    while (!this.#isOver) {
      if (this.#timers.size === 0 || this.open > 0) await new Promise<void>(resolve => (this.#wake = resolve))
      let turns = 0
      while (turns < IDLE_TURNS && this.open === 0) {
        await new Promise<void>(resolve => void real.setImmediate(resolve))
        turns++
      }
      if (this.open > 0) continue
      // Of timers for the same moment, the first one that was set: a set has the order in which they were added.
      let next: VirtualTimer | null = null
      for (const timer of this.#timers) if (next === null || timer.atMs < next.atMs) next = timer
      if (next !== null) this.#fire(next)
    }
  }

  #fire(timer: VirtualTimer): void {
    this.elapsedMs = timer.atMs
    this.#timers.delete(timer)
    if (timer.everyMs !== null) {
      timer.atMs += timer.everyMs
      this.#timers.add(timer)
    }
    timer.run()
  }
}

let virtual: VirtualTime | null = null
let users = 0

/** Makes the time of this thread virtual until the returned function is called, by each of those who use it at once. */
export function useVirtualTime(): () => void {
  virtual ??= new VirtualTime()
  users++
  return () => {
    users--
    if (users > 0) return
    virtual?.end()
    virtual = null
  }
}

const INSTALLED = Symbol.for('handover-sim: switchable time')

/** Once in each thread. */
function install(): void {
  const globals = globalThis as unknown as Record<string | symbol, unknown>
  if (globals[INSTALLED]) return
  globals[INSTALLED] = true
  const timers = {
    setTimeout: (run: Run, delayMs = 0, ...values: never[]) =>
      virtual?.add(() => run(...values), delayMs, null) ?? real.setTimeout(run, delayMs, ...values),
    setInterval: (run: Run, delayMs = 0, ...values: never[]) =>
      virtual?.add(() => run(...values), delayMs, Math.max(1, delayMs)) ?? real.setInterval(run, delayMs, ...values),
    clearTimeout: (timer: never) => (isVirtual(timer) ? virtual?.remove(timer) : real.clearTimeout(timer)),
    clearInterval: (timer: never) => (isVirtual(timer) ? virtual?.remove(timer) : real.clearInterval(timer)),
  }
  for (const [name, replaced] of Object.entries(timers)) {
    // Keeps `util.promisify(setTimeout)`.
    const symbols = Object.getOwnPropertyDescriptors(globals[name])
    globals[name] = Object.defineProperties(replaced, symbols)
  }
  AbortSignal.timeout = delayMs => (virtual === null ? real.abortAfter(delayMs) : abortAfter(delayMs))
  Date.now = () => (virtual === null ? real.dateNow() : START_MS + virtual.elapsedMs)
  performance.now = () => (virtual === null ? real.performanceNow() : virtual.elapsedMs)
  const { subtle } = crypto
  for (const name of ['importKey', 'sign', 'verify', 'digest'] as const) {
    const work = subtle[name].bind(subtle) as (...values: unknown[]) => Promise<unknown>
    const tracked = (...values: unknown[]) => virtual?.track(work(...values)) ?? work(...values)
    Object.defineProperty(subtle, name, { value: tracked, configurable: true, writable: true })
  }
}

const isVirtual = (timer: unknown): timer is VirtualTimer =>
  typeof timer === 'object' && timer !== null && 'everyMs' in timer

function abortAfter(delayMs: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), delayMs)
  return controller.signal
}

install()
