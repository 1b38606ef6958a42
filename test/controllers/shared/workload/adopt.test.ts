import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Adopt from "../../../../src/controllers/shared/workload/adopt.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import type * as Patch from "../../../../src/kube/Patch.ts"
import { ReplicaSet } from "../../../../src/kube/resources.ts"
import * as Status from "../../../../src/kube/Status.ts"
import { runs } from "../../../support/runs.ts"

const Candidate = Schema.Struct({
  controller: Schema.Literals(["none", "own", "other"]),
  /** Another owner, which is not the controller. */
  bystander: Schema.Boolean,
  matches: Schema.Boolean,
  deleting: Schema.Boolean,
  elsewhere: Schema.Boolean,
  /** The server's response to a patch. */
  answer: Schema.Literals(["ok", 404, 409, 422])
})

type Candidate = typeof Candidate.Type

const Case = Schema.Struct({
  ownerDeleting: Schema.Boolean,
  /** The server's response to the live read of the owner. */
  live: Schema.Literals(["ok", "another", "deleting", "gone"])
})

const cases = Arbitrary.all({
  model: Arbitrary.schema(Case),
  candidates: Arbitrary.array(Arbitrary.schema(Candidate), { maxLength: 8 })
})

type Case = { readonly model: typeof Case.Type; readonly candidates: ReadonlyArray<Candidate> }

const deletionTimestamp = "2026-01-01T00:00:00Z"

const ownerOf = (deleting: boolean, uid = "own"): KubeObject => ({
  kind: "ReplicaSet",
  metadata: { name: "web", namespace: "ns", uid, ...(deleting ? { deletionTimestamp } : {}) }
})

const objectOf = (candidate: Candidate, index: number): KubeObject => ({
  kind: "Pod",
  metadata: {
    name: `pod-${index}`,
    uid: `uid-${index}`,
    namespace: candidate.elsewhere ? "elsewhere" : "ns",
    ...(candidate.deleting ? { deletionTimestamp } : {}),
    ownerReferences: [
      ...(candidate.bystander ? [reference("bystander", false)] : []),
      ...(candidate.controller === "none" ? [] : [reference(candidate.controller, true)])
    ]
  }
})

const reference = (uid: string, controller: boolean) => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: uid,
  uid,
  controller,
  blockOwnerDeletion: controller
})

type Situation = "ignored" | "claimed" | "released" | "adopted"

/** The rules of BaseControllerRefManager.ClaimObject. */
const situation = (candidate: Candidate, ownerDeleting: boolean): Situation => {
  if (candidate.controller === "other") return "ignored"
  if (candidate.controller === "own") {
    if (candidate.matches) return "claimed"
    return ownerDeleting ? "ignored" : "released"
  }
  if (ownerDeleting || !candidate.matches) return "ignored"
  if (candidate.deleting) return "ignored"
  if (candidate.elsewhere) return "ignored"
  return "adopted"
}

const failure = (code: number): ApiError.ApiError =>
  ApiError.fromStatus({
    context: { verb: "patch", path: "/" },
    status: code,
    body: Status.failure({ code, reason: "", message: `answered ${code}` })
  })

const bodyOf = (what: "adopted" | "released", index: number): object => ({
  metadata: {
    uid: `uid-${index}`,
    ownerReferences:
      what === "adopted"
        ? [
            {
              apiVersion: "apps/v1",
              kind: "ReplicaSet",
              name: "web",
              uid: "own",
              controller: true,
              blockOwnerDeletion: true
            }
          ]
        : [{ $patch: "delete", uid: "own" }]
  }
})

const isDeepEqual = (a: unknown, b: unknown): boolean => {
  try {
    assert.deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

const holds = ({ candidates, model }: Case) =>
  Effect.gen(function* () {
    const objects = candidates.map(objectOf)
    const fates = candidates.map((candidate) => situation(candidate, model.ownerDeleting))
    const patches: Array<readonly [name: string, patch: Patch.Patch]> = []
    let asked = 0
    const claiming = {
      owner: ownerOf(model.ownerDeleting),
      resource: ReplicaSet,
      matches: (object: KubeObject) => candidates[indexOf(object)]?.matches === true,
      live: Effect.suspend(() => {
        asked++
        if (model.live === "gone") return Effect.fail(failure(404))
        return Effect.succeed(ownerOf(model.live === "deleting", model.live === "another" ? "another" : "own"))
      }),
      patch: (object: KubeObject, patch: Patch.Patch) =>
        Effect.suspend(() => {
          patches.push([object.metadata.name, patch])
          const answer = candidates[indexOf(object)]?.answer
          return answer === "ok" || answer === undefined
            ? Effect.succeed({ ...object, patched: true })
            : Effect.fail(failure(answer))
        })
    }
    const planned = Adopt.plan(claiming, objects)
    const result = yield* Effect.result(Adopt.claim(claiming, objects))

    const mayAdopt = model.live === "ok"
    const expectedPatches: Array<unknown> = []
    const expectedClaims: Array<unknown> = []
    let failures = 0
    for (const [index, candidate] of candidates.entries()) {
      const fate = fates[index]
      const object = objects[index]
      if (fate === "claimed") expectedClaims.push(object)
      if (fate === "released" || (fate === "adopted" && mayAdopt)) {
        expectedPatches.push([`pod-${index}`, { type: "strategic", body: bodyOf(fate, index) }])
      }
      if (fate === "released" && candidate.answer === 409) failures++
      if (fate === "adopted") {
        if (!mayAdopt || candidate.answer === 409 || candidate.answer === 422) failures++
        else if (candidate.answer === "ok") expectedClaims.push({ ...object, patched: true })
      }
    }
    return (
      isDeepEqual(
        planned.claimed,
        objects.filter((_, i) => fates[i] === "claimed")
      ) &&
      isDeepEqual(
        planned.adopt,
        objects.filter((_, i) => fates[i] === "adopted")
      ) &&
      isDeepEqual(
        planned.release,
        objects.filter((_, i) => fates[i] === "released")
      ) &&
      asked === (fates.includes("adopted") ? 1 : 0) &&
      isDeepEqual(patches, expectedPatches) &&
      (failures === 0
        ? Result.isSuccess(result) && isDeepEqual(result.success, expectedClaims)
        : Result.isFailure(result) && result.failure.failures.length === failures)
    )
  })

const indexOf = (object: KubeObject): number => Number(object.metadata.name.slice(4))

describe("adopt", () => {
  it.effect("adopts, releases and ignores as BaseControllerRefManager, for any owner and candidates", () =>
    Effect.map(Arbitrary.checkEffect(cases, holds, { runs: runs(1000) }), (result) =>
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    )
  )

  const orphan: KubeObject = { kind: "Pod", metadata: { name: "a", namespace: "ns", uid: "u1" } }
  const claim = (live: KubeObject, candidates: ReadonlyArray<KubeObject>) =>
    Adopt.claim(
      {
        owner: ownerOf(false),
        resource: ReplicaSet,
        matches: () => true,
        live: Effect.succeed(live),
        patch: Effect.succeed
      },
      candidates
    )

  it.effect("fails with the reason if the owner may not adopt", () =>
    Effect.gen(function* () {
      const another = yield* Effect.flip(claim(ownerOf(false, "another"), [orphan]))
      assert.strictEqual(
        another.message,
        "can't adopt Pod ns/a (u1): original ReplicaSet ns/web is gone: got uid another, wanted own"
      )
      const deleted = yield* Effect.flip(claim(ownerOf(true), [orphan]))
      assert.strictEqual(
        deleted.message,
        "can't adopt Pod ns/a (u1): ns/web has just been deleted at 2026-01-01T00:00:00Z"
      )
    })
  )

  it.effect("lists every failed object, and equal reasons once", () =>
    Effect.gen(function* () {
      const other: KubeObject = { ...orphan, metadata: { ...orphan.metadata, name: "b", uid: "u2" } }
      const error = yield* Effect.flip(claim(ownerOf(true), [orphan, other, other]))
      assert.strictEqual(error.failures.length, 3)
      assert.match(error.message, /^\[can't adopt Pod ns\/a .*, can't adopt Pod ns\/b .*\]$/)
    })
  )

  it.effect("adds and removes finalizers with the reference", () =>
    Effect.gen(function* () {
      const bodies: Array<unknown> = []
      const finalizers = ["batch.kubernetes.io/job-tracking"]
      const own: KubeObject = { ...orphan, metadata: { ...orphan.metadata, ownerReferences: [reference("own", true)] } }
      for (const [object, matches] of [
        [orphan, true],
        [own, false]
      ] as const) {
        yield* Adopt.claim(
          {
            owner: ownerOf(false),
            resource: ReplicaSet,
            matches: () => matches,
            live: Effect.succeed(ownerOf(false)),
            patch: (object, patch) => Effect.sync(() => (bodies.push(patch.body), object)),
            finalizers
          },
          [object]
        )
      }
      assert.deepNestedInclude(bodies[0], { "metadata.finalizers": finalizers })
      assert.deepInclude((bodies[1] as { metadata: object }).metadata, {
        "$deleteFromPrimitiveList/finalizers": finalizers
      })
    })
  )
})
