/** What the console shows of objects, and what never leaves the process. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { DaemonSet, Deployment, Job, Node, Pod, ReplicaSet, Secret } from "../../../src/kube/resources.ts"
import type { Held } from "../../../src/layers/Inspection.ts"
import { nodeOf, podOf } from "../../../src/manager/console/cluster.ts"
import type { Entry } from "../../../src/layers/timeline/entries.ts"
import * as Objects from "../../../src/manager/console/objects.ts"
import type { Relations } from "../../../src/manager/console/protocol.ts"
import { checkProperty } from "../../support/property.ts"
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

const nothing: Relations = { objects: [], more: 0 }

describe("an object in the console", () => {
  it("has its owners and its dependants with their states", () => {
    assert.deepInclude(view("replicasets.apps", "default/web-1"), {
      kind: "ReplicaSet",
      exists: true,
      owners: {
        objects: [
          { resource: "deployments.apps", kind: "Deployment", key: "default/web", state: "2/3 ready", next: nothing }
        ],
        more: 0
      },
      dependants: {
        objects: [{ resource: "pods", kind: "Pod", key: "default/web-1-a", state: "Running", next: nothing }],
        more: 0
      }
    })
  })

  it("has the owners of its owners, and the dependants of its dependants", () => {
    assert.deepStrictEqual(lines(view("deployments.apps", "default/web").dependants), [
      "ReplicaSet default/web-1 3/3 ready",
      " Pod default/web-1-a Running"
    ])
    assert.deepStrictEqual(lines(view("pods", "default/web-1-a").owners), [
      "ReplicaSet default/web-1 3/3 ready",
      " Deployment default/web 2/3 ready"
    ])
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
      owners: nothing,
      dependants: nothing
    })
  })

  it("says so of an owner that is not in the cache, or that was recreated", () => {
    assert.deepStrictEqual(lines(view("secrets", "default/password").owners), ["Team x not in the cache"])
    const recreated = object("web-1", {}, [{ ...owner("Deployment", "apps/v1", "web"), uid: "of-another-life" }])
    const other = [{ resource: ReplicaSet, store: storeOf([recreated]) }, ...held.slice(3)]
    const { owners } = Objects.view(other, { resource: "replicasets.apps", key: "default/web-1" }, undefined, [])
    assert.deepStrictEqual(lines(owners), ["Deployment default/web not in the cache"])
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
    const sets = Array.from({ length: 30 }, (_, index) =>
      object(`set-${index}`, { spec, status: {} }, [owner("Deployment", "apps/v1", "web")])
    )
    const pods = sets.flatMap(({ metadata: { name } }) =>
      Array.from({ length: 30 }, (_, index) =>
        pod(`${name}-${index}`, { phase: "x".repeat(10_000) }, [owner("ReplicaSet", "apps/v1", name)])
      )
    )
    const stores = [
      { resource: Resource.metadataOnly(Pod), store: storeOf<KubeObject>(pods) },
      { resource: Pod, store: storeOf<KubeObject>(pods) },
      { resource: ReplicaSet, store: storeOf(sets) },
      { resource: Deployment, store: storeOf([web]) }
    ]
    const { dependants } = Objects.view(stores, { resource: "deployments.apps", key: "default/web" }, undefined, [])
    assert.lengthOf(dependants.objects, 20)
    assert.strictEqual(dependants.more, 10)
    assert.deepInclude(dependants.objects[0]?.next, { more: 10 })
    assert.lengthOf(lines(dependants), 200)
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
    const owners = Array.from({ length: 30 }, (_, n) => owner(long, `${long}/v1`, `${long}${n}`))
    const owned = pod("owned", { phase: long, reason: long }, owners)
    const shown = Objects.view(
      [{ resource: Pod, store: storeOf([owned]) }],
      { resource: "pods", key: "default/owned" },
      undefined,
      []
    )
    assert.lengthOf(shown.owners.objects, 20)
    assert.isBelow(JSON.stringify(shown).length, 20_000)
    assert.isBelow(JSON.stringify(podOf(owned)).length, 2000)
  })

  // Eight objects of three kinds; each names owners among them by their numbers, whatever cycles that makes.
  const numbers = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))
  const graphs = Arbitrary.schema(
    Schema.Array(Schema.Array(numbers).check(Schema.isMaxLength(3))).check(Schema.isMinLength(8), Schema.isMaxLength(8))
  )
  checkProperty("has each connected object once, at its shortest distance, up to five levels", graphs, (owners) => {
    const kinds = [Deployment, ReplicaSet, Pod] as const
    const named = (n: number) => owner(kinds[n % 3]?.kind ?? "", n % 3 === 2 ? "v1" : "apps/v1", `o-${n}`)
    const objects = owners.map((of, n) => object(`o-${n}`, {}, of.map(named)))
    const stores = kinds.map((resource, kind) => ({
      resource,
      store: storeOf(objects.filter((_, n) => n % 3 === kind))
    }))
    const { dependants, owners: found } = Objects.view(
      stores,
      { resource: "deployments.apps", key: "default/o-0" },
      undefined,
      []
    )
    const dependantsOf = (n: number) => owners.flatMap((of, one) => (of.includes(n) ? [one] : []))
    return (
      sameLevels(
        levelsOf(found),
        distances((n) => owners[n] ?? [])
      ) && sameLevels(levelsOf(dependants), distances(dependantsOf))
    )
  })
})

/** The names at each distance from the object 0, in order, without those that are further away than five. */
const distances = (next: (n: number) => ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<string>> => {
  const seen = new Set([0])
  const levels: Array<ReadonlyArray<string>> = []
  for (let level = [0]; levels.length < 5;) {
    level = [...new Set(level.flatMap(next))].filter((n) => !seen.has(n))
    for (const n of level) seen.add(n)
    levels.push(level.map((n) => `default/o-${n}`).sort())
  }
  return levels
}

const levelsOf = (connected: Relations): ReadonlyArray<ReadonlyArray<string>> => {
  const levels: Array<Array<string>> = [[], [], [], [], []]
  const visit = ({ objects }: Relations, depth: number): void => {
    for (const { key, next } of objects) {
      levels[depth]?.push(key)
      visit(next, depth + 1)
    }
  }
  visit(connected, 0)
  return levels.map((level) => level.sort())
}

const sameLevels = (a: ReadonlyArray<ReadonlyArray<string>>, b: ReadonlyArray<ReadonlyArray<string>>): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

const lines = ({ objects }: Relations, indent = ""): ReadonlyArray<string> =>
  objects.flatMap(({ key, kind, next, state }) => [`${indent}${kind} ${key} ${state}`, ...lines(next, `${indent} `)])
