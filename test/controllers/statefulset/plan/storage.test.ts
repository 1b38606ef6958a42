/** The claims of one replica. Upstream: stateful_set_utils.go, getPersistentVolumeClaims, claimOwnerMatchesSetAndPod, isClaimOwnerUpToDate. */
import { assert, describe, it } from "@effect/vitest"
import * as Storage from "../../../../src/controllers/statefulset/plan/storage.ts"
import { claim, claiming, type Facts, snapshotOf, podOf, reference } from "./fixture.ts"

const of = (facts: Partial<Facts>, ordinal = 0, pod = podOf("r", ordinal)) =>
  Storage.of(snapshotOf({ pods: "", replicas: 1, spec: claiming(), ...facts }), ordinal, pod)

const nothing: Storage.Storage = { missing: [], ownerUpdates: [], conflicting: [], going: [], isStale: false }

const ofSet = claiming({ whenDeleted: "Delete" })
const ofPod = claiming({ whenScaled: "Delete" })

describe("the storage of a replica", () => {
  it("is nothing without templates, and where every claim is as it should be", () => {
    assert.deepStrictEqual(of({ spec: {} }), nothing)
    assert.deepStrictEqual(of({ spec: { volumeClaimTemplates: [{ spec: {} }] } }), nothing)
    assert.deepStrictEqual(of({ claims: [claim(0)] }), nothing)
  })

  it("lacks claims named after template and pod, with what the template says and the labels of the selector", () => {
    const spec = { accessModes: ["ReadWriteOnce"] }
    const full = {
      name: "data",
      labels: { app: "other", tier: "db" },
      annotations: { a: "b" },
      finalizers: ["a.b/c"],
      ownerReferences: [reference("ConfigMap", "config")]
    }
    const templates = { volumeClaimTemplates: [{ metadata: full, spec }, { metadata: { name: "bare" } }] }
    assert.deepStrictEqual(of({ spec: templates }, 3).missing, [
      {
        metadata: {
          name: "data-web-3",
          namespace: "ns",
          labels: { app: "web", tier: "db" },
          annotations: { a: "b" },
          finalizers: ["a.b/c"],
          ownerReferences: [reference("ConfigMap", "config")]
        },
        spec
      },
      { metadata: { name: "bare-web-3", namespace: "ns", labels: { app: "web" } } }
    ] as never)
    const [bare] = of({ spec: templates, metadata: { namespace: undefined } }).missing
    assert.notProperty(bare?.metadata, "namespace")
  })

  it("lacks claims that have their owners from the beginning", () => {
    const owners = (facts: Partial<Facts>, ordinal: number) =>
      of(facts, ordinal).missing.map(({ metadata }) =>
        metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`)
      )
    assert.deepStrictEqual(owners({ spec: ofSet }, 0), [["StatefulSet web"]])
    assert.deepStrictEqual(owners({ spec: ofPod }, 0), [undefined])
    assert.deepStrictEqual(owners({ spec: ofPod }, 1), [["Pod web-1"]])
  })

  it("has claims without the owner that the policy asks for: they are given it, and keep the rest", () => {
    const kept = claim(0, {
      labels: { a: "b" },
      ownerReferences: [{ ...reference("ConfigMap", "config"), controller: false }]
    })
    const { ownerUpdates, ...rest } = of({ spec: ofSet, claims: [kept] })
    assert.deepStrictEqual(
      ownerUpdates.map(({ metadata }) => [
        metadata.name,
        metadata.labels,
        metadata.ownerReferences?.map(({ uid }) => uid)
      ]),
      [["data-web-0", { a: "b" }, ["uid-config", "uid-web"]]]
    )
    assert.deepStrictEqual({ ...rest, ownerUpdates: [] }, nothing)
  })

  it("has claims that another owner controls, where the policy deletes claims", () => {
    const claims = [claim(0, { ownerReferences: [reference("ConfigMap", "config")] })]
    assert.deepStrictEqual(of({ spec: ofSet, claims }), { ...nothing, conflicting: ["data-web-0"] })
    assert.deepStrictEqual(of({ claims }), nothing)
  })

  it("has claims that are being deleted", () => {
    const claims = [claim(0, { deletionTimestamp: "2026-01-01T00:00:00Z" })]
    assert.deepStrictEqual(of({ claims }), { ...nothing, going: ["data-web-0"] })
  })

  it("is stale while a claim belongs to another pod of the name, if claims go with pods", () => {
    const claims = [claim(0, { ownerReferences: [reference("Pod", "web-0", "uid-before")] })]
    assert.isTrue(of({ spec: ofPod, claims }).isStale)
    assert.isTrue(of({ spec: ofPod, claims }, 0, undefined).isStale)
    assert.isFalse(of({ spec: ofSet, claims }).isStale)
    const own = [claim(0, { ownerReferences: [reference("Pod", "web-0")] })]
    assert.isFalse(of({ spec: ofPod, claims: own }).isStale)
    const other = [claim(0, { ownerReferences: [reference("Pod", "web-1", "uid-before")] })]
    assert.isFalse(of({ spec: ofPod, claims: other }).isStale)
  })
})
