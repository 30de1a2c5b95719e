/** Merges settings of several origins, by dotted name (`port`, `webhook.url`, `typing.webhook`). */
export interface Setting {
  readonly value: unknown
  /** `default`, `--port`, `HANDOVER_SIM_PORT`, `handover-sim.config.yaml:3`. */
  readonly from: string
}
export type Layer = Readonly<Record<string, Setting>>

export const mergeLayers = (...layers: readonly Layer[]): Layer => Object.assign({}, ...layers) as Layer
