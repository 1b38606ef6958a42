import { assert, it } from "@effect/vitest"
import { Crd, Resource } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Widget } from "../src/Widget.ts"
import { WidgetValidation } from "../src/WidgetValidation.ts"

const cluster = ClusterTest.layer({ crds: [Result.getOrThrow(Crd.make(Widget))], webhooks: [WidgetValidation] })

it.effect.prop(
  "rejects each Widget that has a reserved name, and no other",
  { object: Resource.arbitrary(Widget) },
  ({ object }) =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      const named = (name: string) => [{ ...object, metadata: { namespace: "default", name } }]
      yield* apply(named("first"))
      const error = yield* Effect.flip(apply(named("system")))
      assert.include(error.message, "the name system is reserved")
    }).pipe(Effect.provide(cluster)),
  { arbitrary: { runs: 5 }, timeout: 30_000 }
)
