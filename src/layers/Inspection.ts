/**
 * Where rooms say how to look at what they hold while the program runs: the informers, who leads, pages of a controller's own.
 * Nothing is kept here but ways to read; what is read stays where it lives, and costs something only when it is read.
 * A reference, not a service: what registers must not depend on there being a server that shows it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { InformerStatus } from "./Cache.ts"
import type { Leadership } from "./Leadership.ts"

/** Controllers that lead together. */
export interface Group {
  readonly leadership: Leadership["Service"]
  /** Names of its controllers. */
  readonly controllers: ReadonlyArray<string>
}

/** What a controller shows of itself; it is there while the controller runs. */
export interface Page {
  readonly controller: string
  /** One that the controller's descriptor names under `debug`. */
  readonly name: string
  readonly contentType: string
  /** Bounded in size by whoever makes it; the query is the asker's. */
  readonly read: (query: URLSearchParams) => Effect.Effect<string>
}

/** Things of one kind that can be looked at, in the order in which they were shown. */
export interface Shown<A> {
  /** For as long as the scope is open. */
  readonly show: (one: A) => Effect.Effect<void, never, Scope.Scope>
  readonly all: Effect.Effect<ReadonlyArray<A>>
}

export interface Inspection {
  readonly informers: Shown<Effect.Effect<ReadonlyArray<InformerStatus>>>
  readonly groups: Shown<Group>
  readonly pages: Shown<Page>
}

const shown = <A>(): Shown<A> => {
  /** Each in a box of its own, so that one thing may be shown twice. */
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
  groups: shown(),
  pages: shown()
})

/** The process's; tests and programs that run two managers provide their own. */
export const Inspection = Context.Reference<Inspection>("effect-controller-manager/Inspection", {
  defaultValue: makeUnsafe
})
