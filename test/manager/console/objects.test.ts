/** What the console shows of objects, and what never leaves the process. */
import { assert, describe, it } from "@effect/vitest"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { DaemonSet, Deployment, Job, Node, Pod, ReplicaSet, Secret } from "../../../src/kube/resources.ts"
import type { Held } from "../../../src/layers/Inspection.ts"
import { nodeOf, podOf } from "../../../src/manager/console/cluster.ts"
import type { Entry } from "../../../src/layers/timeline/entries.ts"
import * as Objects from "../../../src/manager/console/objects.ts"
import { storeOf } from "../../support/stores.ts"

const poison = "c2VjcmV0-poison"

/** An object whose every field that may be secret holds the text. */
const object = (name: string, over: object = {}, owners: ReadonlyArray<OwnerReference> = []): KubeObject => ({
  apiVersion: "v1",
  kind: "Any",
  ...over,
  metadata: {
    name,
    namespace: "default",
    uid: `uid-${name}`,
    resourceVersion: "1",
    ownerReferences: owners,
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": poison },
    labels: { secret: poison },
    managedFields: [{ manager: poison, operation: "Update", apiVersion: "v1" }],
    ...("metadata" in over ? (over.metadata as object) : {})
  }
})

const owner = (kind: string, apiVersion: string, name: string): OwnerReference => ({
  kind,
  apiVersion,
  name,
  uid: `uid-${name}`,
  controller: true
})

const spec = { replicas: 3, containers: [{ name: "a", env: [{ name: "PASSWORD", value: poison }] }], template: poison }

const pod = (name: string, status: object, owners: ReadonlyArray<OwnerReference> = []) =>
  object(name, { spec: { ...spec, nodeName: "worker-1" }, status: { message: poison, ...status } }, owners) as Pod

const web = object("web", { spec, status: { readyReplicas: 2 } })
const set = object("web-1", { spec, status: { readyReplicas: 3 } }, [owner("Deployment", "apps/v1", "web")])
const one = pod("web-1-a", { phase: "Running" }, [owner("ReplicaSet", "apps/v1", "web-1")])
const secret = object("password", { data: { a: poison }, stringData: { b: poison } }, [
  owner("Team", "example.com/v1", "x")
])

const held: ReadonlyArray<Held> = [
  { resource: Resource.metadataOnly(Pod), store: storeOf([one]) },
  { resource: Pod, store: storeOf<KubeObject>([one]) },
  { resource: ReplicaSet, store: storeOf([set]) },
  { resource: Deployment, store: storeOf([web]) },
  { resource: Secret, store: storeOf([secret]) }
]

const view = (resource: string, key: string) => Objects.view(held, { resource, key }, undefined, [])

describe("an object in the console", () => {
  it("has its owners and its dependants with their states", () => {
    assert.deepInclude(view("replicasets.apps", "default/web-1"), {
      kind: "ReplicaSet",
      exists: true,
      owners: [{ resource: "deployments.apps", kind: "Deployment", key: "default/web", state: "2/3 ready" }],
      dependants: [{ resource: "pods", kind: "Pod", key: "default/web-1-a", state: "Running" }]
    })
  })

  it("that is not in the cache has its timeline all the same", () => {
    const change = {
      type: "change",
      id: 1,
      at: 2,
      resource: "pods",
      kind: "Pod",
      key: "default/gone",
      change: "deleted",
      resourceVersion: "3",
      paths: []
    } as const
    const known = { entries: [change], truncated: true }
    assert.deepInclude(Objects.view(held, { resource: "pods", key: "default/gone" }, { of: () => known }, []), {
      exists: false,
      timeline: [change],
      truncated: true,
      owners: [],
      dependants: []
    })
  })

  it("says so of an owner that is not in the cache, or that was recreated", () => {
    assert.deepStrictEqual(view("secrets", "default/password").owners, [
      { resource: "", kind: "Team", key: "x", state: "not in the cache" }
    ])
    const recreated = object("web-1", {}, [{ ...owner("Deployment", "apps/v1", "web"), uid: "of-another-life" }])
    const other = [{ resource: ReplicaSet, store: storeOf([recreated]) }, ...held.slice(3)]
    const [found] = Objects.view(other, { resource: "replicasets.apps", key: "default/web-1" }, undefined, []).owners
    assert.strictEqual(found?.state, "not in the cache")
  })

  for (const [resource, over, expected] of [
    [
      Pod,
      { status: { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ErrImagePull" } } }] } },
      "ErrImagePull"
    ],
    [Pod, { status: { phase: "Failed", reason: "Evicted" } }, "Evicted"],
    [DaemonSet, { status: { desiredNumberScheduled: 3, numberReady: 1 } }, "1/3 ready"],
    [Job, { status: { conditions: [{ type: "Complete", status: "True" }] } }, "Complete"],
    [Node, { status: { conditions: [{ type: "Ready", status: "False" }] } }, "not ready"],
    [Secret, {}, "exists"],
    [Secret, { status: null }, "exists"],
    [Secret, { status: { conditions: [null, { type: 1 }] } }, "exists"],
    [Pod, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Running" } }, "being deleted"]
  ] as const) {
    it(`is ${JSON.stringify(expected)}: ${resource.kind} ${JSON.stringify(over)}`, () => {
      assert.strictEqual(Objects.stateOf(resource, object("x", over)), expected)
    })
  }

  it("nothing secret of an object is shown: no data, environment, annotations, labels, managed fields or messages", () => {
    const node = object("worker-1", {
      spec: { providerID: poison },
      status: { nodeInfo: { machineID: poison } }
    }) as Node
    const shown = [
      view("secrets", "default/password"),
      view("pods", "default/web-1-a"),
      view("deployments.apps", "default/web"),
      podOf(one),
      nodeOf(node)
    ]
    assert.notInclude(JSON.stringify(shown), poison)
    assert.isTrue(shown.length > 0 && JSON.stringify(held[1]?.store.list()).includes(poison))
  })

  it("is bounded in its dependants and in its texts", () => {
    const many = Array.from({ length: 1000 }, (_, index) =>
      pod(`p-${index}`, { phase: "x".repeat(10_000) }, [owner("ReplicaSet", "apps/v1", "web-1")])
    )
    const all = [{ resource: Pod, store: storeOf(many) }, ...held.slice(2)]
    const { dependants } = Objects.view(all, { resource: "replicasets.apps", key: "default/web-1" }, undefined, [])
    assert.lengthOf(dependants, 200)
    assert.isBelow(JSON.stringify(dependants).length, 200 * 400)
  })

  it("is shown without what looks like a credential in messages of its timeline", () => {
    const token = "Bearer abcdefghijklmnop"
    const common = { id: 1, at: 2, controller: "c", causes: [], resource: "pods", key: "default/a" } as const
    const entries: ReadonlyArray<Entry> = [
      { ...common, type: "event", kind: "Normal", reason: "Said", message: token },
      { ...common, type: "write", verb: "patch", status: 500, duration: 1, error: token },
      { ...common, type: "reconcile", reasons: [token], waited: 0, duration: 1, outcome: "error", error: token }
    ]
    const shown = Objects.view(
      held,
      { resource: "pods", key: "default/a" },
      { of: () => ({ entries, truncated: false }) },
      []
    )
    assert.lengthOf(shown.timeline, 3)
    assert.notInclude(JSON.stringify(shown), "abcdefghijklmnop")
  })

  it("has only short texts, because users choose the kinds and names of owners", () => {
    const long = "x".repeat(100_000)
    const owners = Array.from({ length: 30 }, () => owner(long, `${long}/v1`, long))
    const owned = pod("owned", { phase: long, reason: long }, owners)
    const shown = Objects.view(
      [{ resource: Pod, store: storeOf([owned]) }],
      { resource: "pods", key: "default/owned" },
      undefined,
      []
    )
    assert.lengthOf(shown.owners, 20)
    assert.isBelow(JSON.stringify(shown).length, 20_000)
    assert.isBelow(JSON.stringify(podOf(owned)).length, 2000)
  })
})
