/**
 * The registry of what operators can look at while the program runs: informers, their objects, leadership, and pages of controllers. It has only
 * functions that read; the state stays in its component, and costs something only when it is read. It is a reference, not a
 * service, so that a component can register when there is no server that shows it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { KubeObject } from "../kube/Meta.ts"
import type { Informer, InformerStatus } from "./Cache.ts"
import type { Leadership } from "./Leadership.ts"

/** Controllers that lead together. */
export interface Group {
  readonly leadership: Leadership["Service"]
  /** Names of its controllers. */
  readonly controllers: ReadonlyArray<string>
}

/** A page that a controller shows while it runs. */
export interface Page {
  readonly controller: string
  /** One that the controller's descriptor names under `debug`. */
  readonly name: string
  readonly contentType: string
  /** Reads the page, which the controller bounds in size; `query` is that of the request. */
  readonly read: (query: URLSearchParams) => Effect.Effect<string>
}

/** What was registered of one kind, in the order of registration. */
export interface Shown<A> {
  /** Registers it for as long as the scope is open. */
  readonly show: (one: A) => Effect.Effect<void, never, Scope.Scope>
  readonly all: Effect.Effect<ReadonlyArray<A>>
}

/** The objects that an informer holds. */
export type Held = Pick<Informer<KubeObject>, "resource" | "store">

export interface Inspection {
  readonly informers: Shown<Effect.Effect<ReadonlyArray<InformerStatus>>>
  readonly stores: Shown<Effect.Effect<ReadonlyArray<Held>>>
  readonly groups: Shown<Group>
  readonly pages: Shown<Page>
}

const shown = <A>(): Shown<A> => {
  /** Each value in an object of its own, so that a value can be registered twice. */
  const boxes = new Set<{ readonly one: A }>()
  return {
    show: (one) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            const box = { one }
            boxes.add(box)
            return box
          }),
          (box) => Effect.sync(() => boxes.delete(box))
        )
      ),
    all: Effect.sync(() => Array.from(boxes, ({ one }) => one))
  }
}

export const makeUnsafe = (): Inspection => ({
  informers: shown(),
  stores: shown(),
  groups: shown(),
  pages: shown()
})

/** The registry of the process; tests and programs that run two managers provide their own. */
export const Inspection = Context.Reference<Inspection>("effect-controller-manager/Inspection", {
  defaultValue: makeUnsafe
})
