import { assert, it } from "@effect/vitest"
import { Crd, Event, Resource } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { annotation, ExampleController } from "../src/ExampleController.ts"
import { Widget } from "../src/Widget.ts"

const cluster = ClusterTest.layer({ crds: [Result.getOrThrow(Crd.make(Widget))] })

const metadata = { namespace: "default", name: "first" }

it.effect.prop(
  "records an event on each Widget that asks for one, and on no other",
  { object: Resource.arbitrary(Widget) },
  ({ object }) =>
    Effect.gen(function* () {
      const { apply, run, settle, snapshot } = yield* ClusterTest
      const messages = Effect.map(snapshot(Event), (all) => all.map(({ message }) => message))
      yield* run(ExampleController)

      yield* apply([{ ...object, metadata }])
      yield* settle
      assert.deepStrictEqual(yield* messages, [])

      yield* apply([{ ...object, metadata: { ...metadata, annotations: { [annotation]: "hello" } } }])
      yield* settle
      assert.deepStrictEqual(yield* messages, ["hello"])
    }).pipe(Effect.provide(cluster)),
  { arbitrary: { runs: 5 }, timeout: 30_000 }
)
