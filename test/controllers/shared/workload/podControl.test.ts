import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PodControl from "../../../../src/controllers/shared/workload/podControl.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import { type Pod, ReplicaSet } from "../../../../src/kube/resources.ts"
import * as Status from "../../../../src/kube/Status.ts"

const owner: KubeObject = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "web", namespace: "ns", uid: "u" }
}

const template: PodControl.Template = {
  metadata: { labels: { app: "web" }, annotations: { a: "b" }, finalizers: ["example.com/f"] },
  spec: { containers: [{ name: "main", image: "web:1" }] }
}

const named = (name: string): KubeObject => ({ metadata: { name, uid: "u" } })

const answer = (code: number, message: string, cause?: string) =>
  ApiError.fromStatus({
    context: { verb: "create", path: "/api/v1/namespaces/ns/pods" },
    status: code,
    body: Status.failure({
      code,
      reason: "",
      message,
      details: cause === undefined ? undefined : { causes: [{ reason: cause }] }
    })
  })

/** Calls with a fixed answer, and the recorded events. */
const harness = (said: Effect.Effect<Pod, ApiError.ApiError>) => {
  const told: Array<string> = []
  const event = (_: KubeObject, type: string, reason: string, message: string) =>
    Effect.sync(() => void told.push(`${type} ${reason} ${message}`))
  const calls: PodControl.Calls = {
    create: () => said,
    remove: () => said,
    events: {
      event,
      normal: (object, reason, message) => event(object, "Normal", reason, message),
      warning: (object, reason, message) => event(object, "Warning", reason, message)
    }
  }
  return { calls, told }
}

const pod: Pod = { metadata: { name: "web-x7k2p" } }
const body = PodControl.draft(ReplicaSet, owner, template)

describe("podControl", () => {
  it("builds a pod from the template, with a name prefix and an owner reference", () => {
    assert.deepStrictEqual(body, {
      metadata: {
        generateName: "web-",
        labels: { app: "web" },
        annotations: { a: "b" },
        finalizers: ["example.com/f"],
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "ReplicaSet",
            name: "web",
            uid: "u",
            controller: true,
            blockOwnerDeletion: true
          }
        ]
      },
      spec: { containers: [{ name: "main", image: "web:1" }] }
    })
  })

  it("appends a dash to the owner's name where that is a valid prefix", () => {
    const prefix = (name: string) => PodControl.draft(ReplicaSet, named(name), {}).metadata.generateName
    assert.strictEqual(prefix("web.v1"), "web.v1-")
    assert.strictEqual(prefix("a".repeat(253)), `${"a".repeat(253)}-`)
    for (const name of ["web.", ".web", "web..v1", "Web", "-web", "a".repeat(254)])
      assert.strictEqual(prefix(name), name)
  })

  it.effect("creates a pod, with an event on the owner", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.succeed(pod))
      assert.strictEqual(yield* PodControl.create(calls, owner, body), "Created")
      assert.deepStrictEqual(told, ["Normal SuccessfulCreate Created pod: web-x7k2p"])
    })
  )

  it.effect("records a failure event with the server's message", () =>
    Effect.gen(function* () {
      const words = `pods "web-" is forbidden: exceeded quota: small`
      const { calls, told } = harness(Effect.fail(answer(403, words)))
      const error = yield* Effect.flip(PodControl.create(calls, owner, body))
      assert.strictEqual(error.message, words)
      assert.deepStrictEqual(told, [`Warning FailedCreate Error creating: ${words}`])
    })
  )

  it.effect("records no event in a terminating namespace", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.fail(answer(403, "no more", "NamespaceTerminating")))
      assert.strictEqual(yield* PodControl.create(calls, owner, body), "NamespaceTerminating")
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("records no event for a call that was not sent after a loss of leadership", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.fail(ApiError.leaderFenced({ verb: "create", path: "/" })))
      yield* Effect.flip(PodControl.create(calls, owner, body))
      yield* Effect.flip(PodControl.remove(calls, owner, pod))
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("does not create a pod without labels, which no selector would find", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.die("asked"))
      for (const metadata of [{}, { labels: {} }]) {
        const unlabelled = PodControl.draft(ReplicaSet, owner, { ...template, metadata })
        const error = yield* Effect.flip(PodControl.create(calls, owner, unlabelled))
        assert.strictEqual(error.message, "unable to create pods, no labels")
      }
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("deletes a pod, with an event on the owner", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.succeed(pod))
      assert.strictEqual(yield* PodControl.remove(calls, owner, pod), "Deleted")
      assert.deepStrictEqual(told, ["Normal SuccessfulDelete Deleted pod: web-x7k2p"])
    })
  )

  it.effect("records no event for a pod that is already gone", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.fail(answer(404, `pods "web-x7k2p" not found`)))
      assert.strictEqual(yield* PodControl.remove(calls, owner, pod), "NotFound")
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("records why a pod could not be deleted", () =>
    Effect.gen(function* () {
      const { calls, told } = harness(Effect.fail(answer(500, "etcd is away")))
      const error = yield* Effect.flip(PodControl.remove(calls, owner, pod))
      assert.strictEqual(error.message, "unable to delete pods: etcd is away")
      assert.deepStrictEqual(told, ["Warning FailedDelete Error deleting: etcd is away"])
    })
  )
})
