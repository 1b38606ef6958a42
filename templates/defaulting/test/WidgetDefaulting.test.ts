import { assert, it } from "@effect/vitest"
import { Crd, Resource } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Widget } from "../src/Widget.ts"
import { WidgetDefaulting } from "../src/WidgetDefaulting.ts"

const cluster = ClusterTest.layer({ crds: [Result.getOrThrow(Crd.make(Widget))], webhooks: [WidgetDefaulting] })

const label = "app.kubernetes.io/managed-by"

it.effect.prop(
  "labels each Widget, and keeps a label that the client has set",
  { object: Resource.arbitrary(Widget) },
  ({ object }) =>
    Effect.gen(function* () {
      const { apply } = yield* ClusterTest
      const labelled = (name: string, labels: Readonly<Record<string, string>>) =>
        apply([{ ...object, metadata: { namespace: "default", name, labels } }])
      const [first] = yield* labelled("first", {})
      assert.strictEqual(first?.metadata.labels?.[label], "widget-operator")
      const [second] = yield* labelled("second", { [label]: "another" })
      assert.strictEqual(second?.metadata.labels?.[label], "another")
    }).pipe(Effect.provide(cluster)),
  { arbitrary: { runs: 5 }, timeout: 30_000 }
)
