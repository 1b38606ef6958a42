/** Which differences of two states count. */
import { assert, describe, it } from "@effect/vitest"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { describe as describeDifference, differences, finalState } from "../../../src/testing/explore/finalState.ts"

const uid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

const owner = (n: number): KubeObject =>
  ({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { namespace: "default", name: "web", uid: uid(n), resourceVersion: String(n), generation: n },
    status: { observedGeneration: n }
  }) as KubeObject

const pod = (suffix: string, n: number, owned: number, labels: Readonly<Record<string, string>> = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: "default",
      name: `web-${suffix}`,
      generateName: "web-",
      uid: uid(n),
      creationTimestamp: `2026-01-01T00:00:0${n}Z`,
      labels,
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: uid(owned) }]
    },
    spec: { nodeName: `node-${n}` },
    status: { podIP: `10.0.0.${n}`, startTime: `2026-01-01T00:00:0${n}Z` }
  }) as unknown as KubeObject

const slice = (...pods: ReadonlyArray<KubeObject>): KubeObject =>
  ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace: "default", name: "web" },
    endpoints: pods.map(({ metadata, ...rest }) => ({
      addresses: [(rest as { status?: { podIP?: string } }).status?.podIP],
      targetRef: { kind: "Pod", name: metadata.name, uid: metadata.uid }
    }))
  }) as unknown as KubeObject

const compare = (a: ReadonlyArray<KubeObject>, b: ReadonlyArray<KubeObject>) =>
  differences(finalState(a), finalState(b)).map(describeDifference)

describe("final states", () => {
  const first = pod("x7k2p", 2, 1, { shard: "a" })
  const second = pod("b9d4z", 3, 1, { shard: "b" })
  const state = [owner(1), first, second, slice(first, second)]
  // The same with other names, uids, times, addresses and nodes, created in the other order.
  const otherSecond = pod("aaaaa", 5, 4, { shard: "b" })
  const otherFirst = pod("zzzzz", 6, 4, { shard: "a" })

  it("are equal where only what is random, a time or a place differs", () => {
    assert.deepStrictEqual(compare(state, [owner(4), otherSecond, otherFirst, slice(otherFirst, otherSecond)]), [])
  })

  it("are equal where uids and times inside of texts and the order of conditions differ", () => {
    const available = (seconds: string) => ({
      type: "Available",
      status: "True",
      message: `since 2026-01-01T00:00:${seconds}Z`
    })
    const progressing = { type: "Progressing", status: "False" }
    const conditions = [available("00"), progressing]
    const one = { ...owner(1), status: { id: `container://${uid(1)}/0`, conditions } } as KubeObject
    const moved = [progressing, available("59")]
    const other = { ...owner(4), status: { id: `container://${uid(4)}/0`, conditions: moved } } as KubeObject
    assert.deepStrictEqual(compare([one], [other]), [])
    const changed = { ...owner(4), status: { id: `container://${uid(4)}/1`, conditions: moved } } as KubeObject
    assert.lengthOf(compare([one], [changed]), 1)
  })

  it("differ where a reference leads to another object", () => {
    const found = compare(state, [owner(4), otherSecond, otherFirst, slice(otherSecond, otherFirst)])
    assert.include(found.join("\n"), "EndpointSlice.discovery.k8s.io default/web: endpoints.0")
  })

  it("differ where an object with a generated name is missing, left over or has another content", () => {
    assert.include(
      compare(state, [owner(4), otherFirst, slice(otherFirst)]).join("\n"),
      "Pod default/web-(2) is missing"
    )
    assert.deepStrictEqual(compare([owner(1), first], [owner(4), otherFirst, otherSecond]), [
      "Pod default/web-(2) is left over"
    ])
    assert.deepStrictEqual(compare([owner(1), first], [owner(4), otherSecond]), [
      'Pod default/web-(1): metadata.labels.shard is "b" instead of "a"'
    ])
  })

  it("differ where an observed generation is not the present one", () => {
    const behind = { ...owner(4), status: { observedGeneration: 3 } } as KubeObject
    assert.deepStrictEqual(compare([owner(1)], [behind]), [
      'ReplicaSet.apps default/web: status.observedGeneration is "(behind)" instead of "(current)"'
    ])
  })

  it("differ where the owner is gone", () => {
    assert.include(
      compare([owner(1), first], [owner(1), pod("x7k2p", 2, 9, { shard: "a" })]).join("\n"),
      "(uid of no object)"
    )
  })

  it("contain neither Events nor Leases, nor what is left out", () => {
    const event = { apiVersion: "v1", kind: "Event", metadata: { namespace: "default", name: "e" } }
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace: "default", name: "l" } }
    assert.deepStrictEqual([...finalState([event, lease, owner(1)], () => undefined)], [])
    assert.deepStrictEqual([...finalState([event, lease]).keys()], [])
  })
})
