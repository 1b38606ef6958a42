/**
 * The state of each selected controller, for the debug pages. The manager updates it when a controller starts, stops or has to wait, not for
 * events. It is a reference, like `Health`, because the servers that show it start before the manager.
 */
import * as Context from "effect/Context"

/** The state of a controller whose kinds are served. */
export type Doing =
  /** Its group does not lead, or it has not started yet. */
  | { readonly _tag: "Standby" }
  /** It is built; its workers start after its kinds have synced. */
  | { readonly _tag: "Started" }
  /** Its reconciles in flight finish. */
  | { readonly _tag: "Stopping" }
  /** It ended the manager. */
  | { readonly _tag: "Failed"; readonly message: string }

export type State =
  | Doing
  /** The server does not serve these kinds (yet): it starts when it does. */
  | { readonly _tag: "Waiting"; readonly missing: ReadonlyArray<string> }
  /** The server did not serve these kinds when the manager started, and the manager does not wait for them. */
  | { readonly _tag: "Skipped"; readonly missing: ReadonlyArray<string> }

export interface States {
  readonly set: (controller: string, doing: Doing) => void
  /** Records kinds that a controller needs and the server does not serve; it waits for them or is skipped. */
  readonly lacks: (controller: string, missing: ReadonlyArray<string>, waits: boolean) => void
  /** In the order of the registry. */
  readonly all: () => ReadonlyMap<string, State>
}

interface Entry {
  doing: Doing
  /** Undefined if no kind is missing. */
  lacking: Extract<State, { readonly missing: unknown }> | undefined
}

export const makeUnsafe = (): States => {
  const entries = new Map<string, Entry>()
  const entry = (controller: string): Entry => {
    const known = entries.get(controller) ?? { doing: { _tag: "Standby" }, lacking: undefined }
    entries.set(controller, known)
    return known
  }
  return {
    set: (controller, doing) => {
      const known = entry(controller)
      // A failed controller is closed afterwards and stays `Failed`.
      if (known.doing._tag !== "Failed" || doing._tag === "Started") known.doing = doing
    },
    lacks: (controller, missing, waits) => {
      const lacking = { _tag: waits ? "Waiting" : "Skipped", missing } as const
      entry(controller).lacking = missing.length === 0 ? undefined : lacking
    },
    all: () =>
      new Map(
        Array.from(entries, ([name, { doing, lacking }]) => [
          name,
          doing._tag === "Standby" ? (lacking ?? doing) : doing
        ])
      )
  }
}

/** The states of the process; tests and programs with two managers provide their own. */
export const States = Context.Reference<States>("effect-controller-manager/manager/States", {
  defaultValue: makeUnsafe
})
