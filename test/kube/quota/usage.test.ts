/** What objects take of quotas: cases of the reference's evaluators, and properties of random pods. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import * as Names from "../../../src/kube/quota/names.ts"
import * as PodResources from "../../../src/kube/podResources.ts"
import * as PodUsage from "../../../src/kube/quota/podUsage.ts"
import * as Usage from "../../../src/kube/quota/usage.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"

const show = (usage: Usage.Usage) =>
  Object.fromEntries([...usage].map(([name, amount]) => [name, Quantity.canonical(amount)]))

const taken = (kind: Names.Counted, object: object, isCharged = true) =>
  show(Usage.of(kind, { metadata: { name: "a" }, ...object }, isCharged))

const container = (requests: object, limits: object = {}, more: object = {}) => ({
  name: "main",
  resources: { requests, limits },
  ...more
})

const pod = (spec: object, more: object = {}) => taken(Names.pods, { spec, ...more })

const onePod = { pods: "1", "count/pods": "1" }

describe("the usage of a pod", () => {
  it("is only its number if it requests nothing", () =>
    assert.deepStrictEqual(pod({ containers: [container({})] }), onePod))

  it("has CPU, memory and ephemeral storage under two names, and their limits under one", () =>
    assert.deepStrictEqual(
      pod({
        containers: [
          container({ cpu: "100m", memory: "1Gi", "ephemeral-storage": "2G" }, { cpu: "1", memory: "2Gi" }),
          container({ cpu: "200m" }, { "ephemeral-storage": "3G" })
        ]
      }),
      {
        ...onePod,
        cpu: "300m",
        "requests.cpu": "300m",
        "limits.cpu": "1",
        memory: "1Gi",
        "requests.memory": "1Gi",
        "limits.memory": "2Gi",
        "ephemeral-storage": "2G",
        "requests.ephemeral-storage": "2G",
        "limits.ephemeral-storage": "3G"
      }
    ))

  it("has devices of a class under the name of the class as an extended resource", () => {
    const amounts = { "deviceclass.resource.kubernetes.io/gold": "2" }
    assert.deepStrictEqual(pod({ containers: [container(amounts, amounts)] }), {
      ...onePod,
      "requests.deviceclass.resource.kubernetes.io/gold": "2"
    })
  })

  it("has huge pages under two names and extended resources under one, and no limits of either", () => {
    const amounts = { "hugepages-2Mi": "4Mi", "example.com/dongle": "3", "kubernetes.io/x": "1" }
    assert.deepStrictEqual(pod({ containers: [container(amounts, amounts)] }), {
      ...onePod,
      "hugepages-2Mi": "4Mi",
      "requests.hugepages-2Mi": "4Mi",
      "requests.example.com/dongle": "3"
    })
  })

  it("has the largest amounts of its init containers, with sidecars beside all that start after them", () => {
    const stays = { restartPolicy: "Always" }
    const initContainers = [
      container({ cpu: "500m" }),
      container({ cpu: "100m" }, {}, stays),
      container({ cpu: "450m" }),
      container({ memory: "1Gi" }, {}, stays)
    ]
    const usage = (cpu: string) => pod({ containers: [container({ cpu })], initContainers })
    assert.deepStrictEqual(
      ["200m", "600m"].map((cpu) => [usage(cpu)["requests.cpu"], usage(cpu)["requests.memory"]]),
      [
        ["550m", "1Gi"],
        ["700m", "1Gi"]
      ]
    )
  })

  it("includes its overhead, for limits only if there is a limit", () =>
    assert.deepStrictEqual(
      pod({ containers: [container({}, { cpu: "1" })], overhead: { cpu: "100m", memory: "10Mi" } }),
      {
        ...onePod,
        cpu: "100m",
        "requests.cpu": "100m",
        "limits.cpu": "1100m",
        memory: "10Mi",
        "requests.memory": "10Mi"
      }
    ))

  it("adds no overhead to a limit of zero", () => {
    const usage = pod({
      containers: [container({}, { cpu: "0", memory: "1Gi" })],
      overhead: { cpu: "1", memory: "1Gi" }
    })
    assert.deepStrictEqual([usage["limits.cpu"], usage["limits.memory"]], ["0", "2Gi"])
  })

  it("has supported resources of the pod in place of those of its containers", () =>
    assert.deepStrictEqual(
      pod({
        containers: [container({ cpu: "1", memory: "1Gi" }, { cpu: "2" })],
        resources: { requests: { cpu: "3", "ephemeral-storage": "1G" }, limits: { cpu: "4" } },
        overhead: { cpu: "1" }
      }),
      { ...onePod, cpu: "4", "requests.cpu": "4", "limits.cpu": "5", memory: "1Gi", "requests.memory": "1Gi" }
    ))

  it("during a resize has the largest of requested, allocated and actual amounts, without the requested ones if infeasible", () => {
    const spec = { containers: [container({ cpu: "2" }, { cpu: "3" })] }
    const status = (more: object = {}) => ({
      status: {
        containerStatuses: [
          {
            name: "main",
            resources: { requests: { cpu: "1" }, limits: { cpu: "5" } },
            allocatedResources: { cpu: "1500m" }
          }
        ],
        ...more
      }
    })
    const infeasible = { conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }] }
    const amounts = (more?: object) => {
      const usage = pod(spec, status(more))
      return [usage["requests.cpu"], usage["limits.cpu"]]
    }
    assert.deepStrictEqual(
      [amounts(), amounts(infeasible)],
      [
        ["2", "5"],
        ["1500m", "5"]
      ]
    )
    const whole = pod(
      { ...spec, resources: { requests: { cpu: "2" } } },
      { status: { resources: { requests: { cpu: "3" } }, allocatedResources: { cpu: "4" } } }
    )
    // Resources of the pod count as in its spec, whatever was allocated.
    assert.strictEqual(whole["requests.cpu"], "2")
  })

  it("is only its number once it has ended, or a second grace period after its deletion", () => {
    const spec = { containers: [container({ cpu: "1" })] }
    assert.deepStrictEqual(taken(Names.pods, { spec }, false), { "count/pods": "1" })
    const until = (metadata: object, status: object = {}) =>
      Usage.until(Names.pods, { metadata: { name: "a", ...metadata }, status } as KubeObject)
    const gone = { deletionTimestamp: "1970-01-01T00:01:00Z", deletionGracePeriodSeconds: 30 }
    assert.deepStrictEqual(
      [until({}), until(gone), until(gone, { phase: "Failed" }), until({}, { phase: "Succeeded" })],
      [Infinity, 90_000, -Infinity, -Infinity]
    )
    assert.strictEqual(until({ deletionTimestamp: "1970-01-01T00:01:00Z" }), Infinity)
    assert.strictEqual(Usage.until(Names.services, { metadata: { name: "a", ...gone } }), Infinity)
  })

  it("has no CPU and no memory if it is BestEffort, by its status or by its spec", () => {
    const best = (spec: object, qosClass = "") =>
      PodUsage.isBestEffort({ metadata: { name: "a" }, spec, status: { qosClass } } as never)
    const asking = { containers: [container({ cpu: "1" })] }
    const withoutResources = { containers: [container({ "example.com/dongle": "1", cpu: "0" })] }
    assert.deepStrictEqual(
      [best(asking), best(withoutResources), best(asking, "BestEffort"), best(withoutResources, "Burstable")],
      [false, true, true, false]
    )
    assert.isFalse(best({ ...withoutResources, resources: { requests: { memory: "1" } } }))
    assert.isTrue(best({ ...asking, resources: { requests: { cpu: "0" } } }))
  })
})

describe("the usage of other objects", () => {
  it("has the node ports and load balancers that the type of a Service asks for", () => {
    const service = (type: string, more: object = {}) => {
      const usage = taken(Names.services, {
        spec: { type, ports: [{ port: 80 }, { port: 81, nodePort: 30_000 }], ...more }
      })
      return [usage["services"], usage["count/services"], usage["services.nodeports"], usage["services.loadbalancers"]]
    }
    assert.deepStrictEqual(
      [
        service("ClusterIP"),
        service("NodePort"),
        service("LoadBalancer"),
        service("LoadBalancer", { allocateLoadBalancerNodePorts: false }),
        service("ExternalName")
      ],
      [
        ["1", "1", "0", "0"],
        ["1", "1", "2", "0"],
        ["1", "1", "2", "1"],
        ["1", "1", "1", "1"],
        ["1", "1", "0", "0"]
      ]
    )
  })

  it("has storage in whole bytes, as much as was allocated, and by its class", () => {
    const claim = (spec: object, more: object = {}) => taken(Names.claims, { spec, ...more })
    const counts = { persistentvolumeclaims: "1", "count/persistentvolumeclaims": "1" }
    const storage = (amount: string) => ({ resources: { requests: { storage: amount } } })
    assert.deepStrictEqual(claim({}), counts)
    assert.deepStrictEqual(claim(storage("1500m")), { ...counts, "requests.storage": "2" })
    const status = { allocatedResources: { storage: "3Gi" } }
    const gold = "gold.storageclass.storage.k8s.io"
    assert.deepStrictEqual(claim({ ...storage("1Gi"), storageClassName: "gold" }, { status }), {
      ...counts,
      "requests.storage": "3Gi",
      [`${gold}/requests.storage`]: "3Gi",
      [`${gold}/persistentvolumeclaims`]: "1"
    })
    const annotations = { "volume.beta.kubernetes.io/storage-class": "old" }
    const old = claim({ ...storage("4Gi"), storageClassName: "gold" }, { status, metadata: { name: "a", annotations } })
    assert.strictEqual(old["old.storageclass.storage.k8s.io/requests.storage"], "4Gi")
  })

  it("has devices by class, for alternatives the largest count of each", () => {
    const suffix = "deviceclass.resource.k8s.io/devices"
    const requests = [
      { name: "a", exactly: { deviceClassName: "gold", allocationMode: "ExactCount", count: 2 } },
      { name: "b", deviceClassName: "gold" },
      {
        name: "c",
        firstAvailable: [
          { deviceClassName: "gold", count: 5 },
          { deviceClassName: "gold", count: 3 },
          { deviceClassName: "silver", allocationMode: "All" },
          { deviceClassName: "iron", allocationMode: "Unheard" }
        ]
      }
    ]
    const implicit = "requests.deviceclass.resource.kubernetes.io"
    assert.deepStrictEqual(taken(Names.resourceClaims, { spec: { devices: { requests } } }), {
      "count/resourceclaims.resource.k8s.io": "1",
      [`gold.${suffix}`]: "8",
      [`silver.${suffix}`]: "32",
      [`iron.${suffix}`]: "0",
      [`${implicit}/gold`]: "8",
      [`${implicit}/silver`]: "32"
    })
  })

  describe("has devices of a class with an extended resource under that name too", () => {
    const lookups = (more: Partial<Usage.Lookups> = {}): Usage.Lookups => ({ ...Usage.noLookups, ...more })
    const extendedResource = (name: string) => (name === "gold" ? "example.com/gold" : undefined)
    const claimed = (count: number, metadata: object = {}) =>
      ({
        metadata: { name: "c", namespace: "ns", creationTimestamp: "1970-01-01T00:00:10Z", ...metadata },
        spec: { devices: { requests: [{ name: "a", exactly: { deviceClassName: "gold", count } }] } }
      }) as KubeObject
    /** Metadata of a claim that the scheduler makes for the extended resources of a pod. */
    const madeByScheduler = {
      annotations: { "resource.kubernetes.io/extended-resource-claim": "true" },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true }]
    }
    const podOf = (request: object, status: object = {}, uid = "u") => {
      const object = { metadata: { name: "p", uid }, spec: { containers: [container(request)] }, status } as KubeObject
      return () => ({ pod: object, usage: Usage.of(Names.pods, object, true) })
    }
    const extra = (claim: KubeObject, given: Partial<Usage.Lookups>) => {
      const usage = show(Usage.of(Names.resourceClaims, claim, true, lookups({ extendedResource, ...given })))
      return [usage["requests.example.com/gold"], usage["requests.deviceclass.resource.kubernetes.io/gold"]]
    }
    const pod = podOf({ "example.com/gold": "2" })

    it("for a claim of a user", () => assert.deepStrictEqual(extra(claimed(3), { pod }), ["3", "3"]))

    it("for a claim that was made for a pod, as far as the pod does not count them", () => {
      assert.deepStrictEqual(extra(claimed(2, madeByScheduler), { pod }), [undefined, "2"])
      assert.deepStrictEqual(extra(claimed(3, madeByScheduler), { pod }), ["1", "3"])
      const implicitly = podOf({ "deviceclass.resource.kubernetes.io/gold": "2" })
      assert.deepStrictEqual(extra(claimed(2, madeByScheduler), { pod: implicitly }), ["2", undefined])
    })

    it("for a claim whose pod is gone, has another uid or has another claim, in full", () => {
      const foreign = podOf({ "example.com/gold": "2" }, {}, "other")
      const named = podOf({ "example.com/gold": "2" }, { extendedResourceClaimStatus: { resourceClaimName: "d" } })
      const unmarked = claimed(2, { ownerReferences: madeByScheduler.ownerReferences })
      const workload = [{ apiVersion: "apps/v1", kind: "Pod", name: "p", uid: "u", controller: true }]
      for (const [claim, given] of [
        [claimed(2, madeByScheduler), {}],
        [claimed(2, madeByScheduler), { pod: foreign }],
        [claimed(2, madeByScheduler), { pod: named }],
        [unmarked, { pod }],
        [claimed(2, { ...madeByScheduler, ownerReferences: workload }), { pod }]
      ] as const)
        assert.deepStrictEqual(extra(claim, given), ["2", "2"])
    })

    it("for several claims of one pod, except the first or the one that the pod names", () => {
      const claim = claimed(2, madeByScheduler)
      const other = (more: object) => claimed(1, { ...madeByScheduler, name: "d", ...more })
      const claimsOf = (sibling: KubeObject) => () => [claim, sibling]
      assert.deepStrictEqual(extra(claim, { pod, claimsOf: claimsOf(other({})) }), [undefined, "2"])
      assert.deepStrictEqual(extra(claim, { pod, claimsOf: claimsOf(other({ name: "b" })) }), ["2", "2"])
      const earlier = other({ creationTimestamp: "1970-01-01T00:00:09Z" })
      assert.deepStrictEqual(extra(claim, { pod, claimsOf: claimsOf(earlier) }), ["2", "2"])
      const named = podOf({ "example.com/gold": "2" }, { extendedResourceClaimStatus: { resourceClaimName: "c" } })
      assert.deepStrictEqual(extra(claim, { pod: named, claimsOf: claimsOf(earlier) }), [undefined, "2"])
    })
  })

  it("is one under count/, and under the short name where there is one", () => {
    assert.deepStrictEqual(taken({ group: "", plural: "secrets" }, {}), { secrets: "1", "count/secrets": "1" })
    assert.deepStrictEqual(taken({ group: "apps", plural: "replicasets" }, {}), { "count/replicasets.apps": "1" })
  })
})

describe("the requests that a quota requires", () => {
  it("are reported by container, for CPU and memory only", () => {
    const withoutResources = {
      containers: [{ name: "b" }, { name: "a" }],
      initContainers: [{ ...container({ cpu: "1" }), name: "c" }]
    }
    const names = ["limits.cpu", "requests.cpu", "requests.ephemeral-storage", "pods"]
    const unspecified = (spec: object) => [
      ...PodUsage.unspecifiedResources({ metadata: { name: "p" }, spec } as never, names)
    ]
    assert.deepStrictEqual(unspecified(withoutResources), [
      ["limits.cpu", ["a", "b", "c"]],
      ["requests.cpu", ["a", "b"]]
    ])
    assert.deepStrictEqual(unspecified({ ...withoutResources, resources: { limits: { memory: "1" } } }), [])
  })
})

const amount = oneOf("0", "1", "2", "3")
const part = Arbitrary.all({ cpu: amount, limit: amount, stays: oneOf(true, false) })
const whole = Arbitrary.all({
  containers: Arbitrary.array(part, { minLength: 1, maxLength: 3 }),
  first: Arbitrary.array(part, { maxLength: 4 }),
  overhead: int(0, 2)
})

type Whole = typeof whole extends Arbitrary.Arbitrary<infer A> ? A : never

const madeByScheduler = ({ containers, first, overhead }: Whole): KubeObject => {
  const one = ({ cpu, limit, stays }: Whole["first"][number], i: number) => ({
    name: String(i),
    resources: { requests: { cpu }, limits: { cpu: limit } },
    ...(stays ? { restartPolicy: "Always" } : {})
  })
  return {
    metadata: { name: "a" },
    spec: { containers: containers.map(one), initContainers: first.map(one), overhead: { cpu: String(overhead) } }
  } as KubeObject
}

/** The largest amount at any time: adds up what runs at each moment, one after another. */
const most = ({ containers, first }: Whole, of: (one: Whole["first"][number]) => string): bigint => {
  const sum = (all: Whole["first"]) => all.reduce((total, one) => total + Number(of(one)), 0)
  const moments = first.map((one, i) => sum([...first.slice(0, i).filter(({ stays }) => stays), one]))
  const running = sum([...containers, ...first.filter(({ stays }) => stays)])
  return BigInt(Math.max(running, ...moments)) * 1_000_000_000n
}

const onTop = ({ overhead }: Whole): bigint => BigInt(overhead) * 1_000_000_000n

describe("PodResources", () => {
  checkProperty(
    "the requests of a pod are the largest amount at any time",
    whole,
    (value) =>
      PodResources.amounts(madeByScheduler(value), "requests", "status").get("cpu")?.nanos ===
      most(value, ({ cpu }) => cpu) + onTop(value)
  )

  checkProperty("the limits of a pod are the largest limits at any time", whole, (value) => {
    const limit = most(value, ({ limit }) => limit)
    const expected = limit === 0n ? 0n : limit + onTop(value)
    return PodResources.amounts(madeByScheduler(value), "limits", "status").get("cpu")?.nanos === expected
  })
})
