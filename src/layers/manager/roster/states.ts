/**
 * What each chosen controller is doing at this moment, for whoever is asked by an operator. The manager writes it when a controller
 * starts, stops or has to wait, never for an event; a controller that nobody chose is not in it. It decides nothing.
 * A reference, as `Health` is: the servers that show it are started before there is a manager.
 */
import * as Context from "effect/Context"

export type State =
  /** Its group does not lead, or its turn to start has not come. */
  | { readonly _tag: "Standby" }
  /** The server does not serve these kinds (yet): it starts when it does. */
  | { readonly _tag: "Waiting"; readonly missing: ReadonlyArray<string> }
  /** The server did not serve these kinds when the manager started, and nobody waits for them. */
  | { readonly _tag: "Skipped"; readonly missing: ReadonlyArray<string> }
  /** It is built; its workers begin as soon as its kinds have synced. */
  | { readonly _tag: "Started" }
  /** Its runs are let finish. */
  | { readonly _tag: "Stopping" }
  /** It ended the manager. */
  | { readonly _tag: "Failed"; readonly message: string }

export interface States {
  readonly set: (controller: string, state: State) => void
  /** In the order of the roster. */
  readonly all: () => ReadonlyMap<string, State>
}

export const makeUnsafe = (): States => {
  const states = new Map<string, State>()
  return { set: (controller, state) => void states.set(controller, state), all: () => states }
}

/** The process's; tests and programs that run two managers provide their own. */
export const States = Context.Reference<States>("effect-controller-manager/manager/States", {
  defaultValue: makeUnsafe
})
