import { assert, it } from "@effect/vitest"
import { Deployment, Event, KubeClient, Patch } from "effect-controller-manager"
import { ClusterTest } from "effect-controller-manager/testing"
import * as Effect from "effect/Effect"
import { annotation, ExampleController } from "../src/ExampleController.ts"

const first = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: first, namespace: default }
spec: {}
`

it.effect("records an event on each Deployment that asks for one, and on no other", () =>
  Effect.gen(function* () {
    const { apply, run, settle, snapshot } = yield* ClusterTest
    const client = yield* KubeClient
    const messages = Effect.map(snapshot(Event), (all) => all.map(({ message }) => message))
    yield* run(ExampleController)

    yield* apply(first)
    yield* settle
    assert.deepStrictEqual(yield* messages, [])

    const target = { namespace: "default", name: "first" }
    yield* client.patch(Deployment, target, Patch.merge({ metadata: { annotations: { [annotation]: "hello" } } }))
    yield* settle
    assert.deepStrictEqual(yield* messages, ["hello"])
  }).pipe(Effect.provide(ClusterTest.layer()))
)
