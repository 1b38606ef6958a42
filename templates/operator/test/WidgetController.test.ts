import { assert, it } from "@effect/vitest"
import { Conditions, ConfigMap, Crd, KubeClient, Patch, Resource } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Widget } from "../src/Widget.ts"
import { WidgetController } from "../src/WidgetController.ts"

/** An API server in this process and in virtual time, which serves the kind. */
const cluster = ClusterTest.layer({ crds: [Result.getOrThrow(Crd.make(Widget))] })

const target = { namespace: "default", name: "first" }

const first = {
  apiVersion: Resource.apiVersion(Widget),
  kind: "Widget",
  metadata: target,
  spec: { text: "hello" }
}

it.effect("keeps the text of each Widget in a ConfigMap, also after other clients change it", () =>
  Effect.gen(function* () {
    const { apply, run, settle } = yield* ClusterTest
    const client = yield* KubeClient
    const text = Effect.map(client.get(ConfigMap, target), ({ data }) => data?.["text"])
    yield* run(WidgetController)

    yield* apply([first])
    yield* settle
    assert.strictEqual(yield* text, "hello")
    const { status } = yield* client.get(Widget, target)
    assert.isTrue(Conditions.isTrue(status?.conditions, "Ready"))

    yield* client.patch(ConfigMap, target, Patch.merge({ data: { text: "somebody else's" } }))
    yield* settle
    assert.strictEqual(yield* text, "hello")
  }).pipe(Effect.provide(cluster))
)

it.effect("rejects each Widget without a text", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip((yield* ClusterTest).apply([{ ...first, spec: { text: "" } }]))
    assert.include(error.message, "spec.text")
  }).pipe(Effect.provide(cluster))
)
