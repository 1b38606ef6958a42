/** The cases for ReplicaSets and ReplicationControllers from Kubernetes' suites: test/e2e/apps/{replica_set,rc}.go, test/integration/{replicaset,replicationcontroller}. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod, ReplicaSet, ReplicationController } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import type { Request } from "../../src/layers/Transport.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import * as Harness from "./harness.ts"

const labels = { name: "sample" }

/** The fields that both kinds have and these cases use. */
type Owning = Resource.Resource<ReplicaSet>

const kinds = [
  { resource: ReplicaSet, selector: { matchLabels: labels } },
  { resource: ReplicationController as unknown as Owning, selector: labels }
]

for (const { resource, selector } of kinds) {
  const owner = (replicas: number, image = "httpd:2") => ({
    metadata: { name: "web", labels },
    spec: { replicas, selector, template: Harness.template(labels, image) }
  })
  const get = Harness.get(resource, "web")
  const counted = (count: number) =>
    Harness.until(
      Effect.map(get, ({ metadata, status }) => {
        assert.deepStrictEqual(
          [status?.replicas, status?.readyReplicas, status?.availableReplicas],
          Array(3).fill(count)
        )
        assert.strictEqual(status?.observedGeneration, metadata.generation)
      })
    )
  const failure = Effect.map(get, ({ status }) => status?.conditions?.find(({ type }) => type === "ReplicaFailure"))

  describe(`a ${resource.kind}`, () => {
    Harness.scenario(
      "reports that the quota refuses its pods, until it needs no more than the quota allows",
      Effect.gen(function* () {
        const full = 'pods "web-" is forbidden: exceeded quota: two, requested: pods=1, used: pods=2, limited: pods=2'
        let made = 0
        const isThird = (request: Request) =>
          request.context.verb === "create" && request.context.resource === "pods" && ++made > 2
        yield* (yield* ApiServer).setFaults([
          { match: isThird, fault: { _tag: "Status", code: 403, reason: "Forbidden", message: full } }
        ])
        yield* Harness.create(resource, owner(3))
        yield* Harness.until(
          Effect.map(failure, (found) =>
            assert.deepInclude(found, { status: "True", reason: "FailedCreate", message: full })
          )
        )
        yield* Harness.update(resource, "web", (found) => ({ ...found, spec: { ...found.spec, replicas: 2 } }))
        yield* counted(2)
        yield* Harness.until(Effect.map(failure, (found) => assert.isUndefined(found)))
      })
    )

    Harness.scenario(
      "adopts a pod that matches, and releases it when it no longer matches",
      Effect.gen(function* () {
        yield* Harness.create(Pod, { metadata: { name: "lone", labels }, spec: Harness.spec() })
        yield* Harness.running("name=sample", 1)
        const { metadata } = yield* Harness.create(resource, owner(1))
        yield* Harness.until(
          Effect.map(Harness.get(Pod, "lone"), (pod) =>
            assert.strictEqual(Harness.controllerOf(pod)?.uid, metadata.uid)
          )
        )
        assert.strictEqual((yield* Harness.list(Pod)).length, 1)
        yield* Harness.update(Pod, "lone", (pod) => ({
          ...pod,
          metadata: { ...pod.metadata, labels: { name: "not" } }
        }))
        yield* Harness.until(
          Effect.map(Harness.get(Pod, "lone"), (pod) => assert.isUndefined(Harness.controllerOf(pod)))
        )
        yield* Harness.running("name=sample", 1)
      })
    )

    Harness.scenario(
      "is scaled by its scale subresource",
      Effect.gen(function* () {
        yield* Harness.create(resource, owner(1))
        yield* counted(1)
        yield* Harness.patch(resource, "web", { spec: { replicas: 2 } }, "scale")
        yield* counted(2)
        yield* Harness.strategic(resource, "web", { spec: { replicas: 4 } }, "scale")
        yield* counted(4)
      })
    )

    Harness.scenario(
      "can be scaled and patched, corrects its status, and is deleted with its collection",
      Effect.gen(function* () {
        yield* Harness.create(resource, owner(1))
        yield* counted(1)
        yield* Harness.update(resource, "web", (found) => ({ ...found, spec: { ...found.spec, replicas: 2 } }))
        yield* Harness.strategic(resource, "web", {
          metadata: { labels: { "test-rs": "patched" } },
          spec: { replicas: 3, template: { spec: { containers: [{ name: "main", image: "pause:3" }] } } }
        })
        yield* counted(3)
        yield* Harness.strategic(resource, "web", { status: { readyReplicas: 0, availableReplicas: 0 } }, "status")
        yield* counted(3)
        yield* Harness.removeAll(resource, "test-rs=patched")
        yield* Harness.gone(resource, "web")
      })
    )

    Harness.scenario(
      "keeps conditions that other clients add, including ones that have only a type",
      Effect.gen(function* () {
        yield* Harness.create(resource, owner(1))
        yield* counted(1)
        const types = Effect.map(get, ({ status }) => status?.conditions?.map(({ type }) => type))
        const added = { type: "StatusUpdate", status: "True", reason: "E2E", message: "Set from e2e test" }
        yield* Harness.update(
          resource,
          "web",
          (found) => ({ ...found, status: { ...found.status, conditions: [added] } }),
          "status"
        )
        yield* Harness.advance("10 seconds")
        assert.deepStrictEqual(yield* types, ["StatusUpdate"])
        const bare = { status: { conditions: [{ type: "StatusPatched", status: "True" }] } }
        yield* Harness.patch(resource, "web", bare, "status")
        yield* Harness.patch(resource, "web", { spec: { replicas: 2 } })
        yield* counted(2)
        assert.deepStrictEqual(yield* types, ["StatusPatched"])
      })
    )

    Harness.scenario(
      "replaces a terminating pod and a failed pod, and counts neither",
      Effect.gen(function* () {
        yield* Harness.create(resource, owner(2))
        yield* counted(2)
        const [leaving, failing] = yield* Harness.list(Pod)
        yield* Harness.patch(Pod, leaving?.metadata.name ?? "", { metadata: { finalizers: ["example.com/held"] } })
        yield* Harness.remove(Pod, leaving?.metadata.name ?? "")
        yield* Harness.patch(Pod, failing?.metadata.name ?? "", { status: { phase: "Failed" } }, "status")
        yield* counted(2)
        assert.strictEqual((yield* Harness.list(Pod)).length, 4)
      })
    )

    Harness.scenario(
      "deletes the pod with the lowest deletion cost",
      Effect.gen(function* () {
        yield* Harness.create(resource, owner(2))
        yield* counted(2)
        const [cheap, dear] = yield* Harness.list(Pod)
        const cost = (pod: Pod | undefined, value: string) =>
          Harness.patch(Pod, pod?.metadata.name ?? "", {
            metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": value } }
          })
        yield* cost(cheap, "-100")
        yield* cost(dear, "100")
        yield* Harness.patch(resource, "web", { spec: { replicas: 1 } })
        yield* counted(1)
        assert.deepStrictEqual(
          (yield* Harness.livingPods()).map(({ metadata }) => metadata.uid),
          [dear?.metadata.uid]
        )
      })
    )

    Harness.scenario(
      "leaves the pods of another one with the same selector alone",
      Effect.gen(function* () {
        const other = { ...owner(2), metadata: { name: "other", labels } }
        yield* Harness.create(resource, owner(1))
        yield* Harness.create(resource, other)
        yield* Harness.running("name=sample", 3)
        yield* Harness.advance("1 minute")
        const owners = (yield* Harness.livingPods()).map((pod) => Harness.controllerOf(pod)?.name)
        assert.sameMembers(owners, ["web", "other", "other"])
      })
    )
  })
}
