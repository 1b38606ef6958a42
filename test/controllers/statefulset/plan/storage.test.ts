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
  it("needs no write without templates, or if every claim exists with the right owners", () => {
    assert.deepStrictEqual(of({ spec: {} }), nothing)
    assert.deepStrictEqual(of({ spec: { volumeClaimTemplates: [{ spec: {} }] } }), nothing)
    assert.deepStrictEqual(of({ claims: [claim(0)] }), nothing)
  })

  it("lists missing claims with the name of template and pod, the fields of the template and the labels of the selector", () => {
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

  it("lists missing claims with their owners", () => {
    const owners = (facts: Partial<Facts>, ordinal: number) =>
      of(facts, ordinal).missing.map(({ metadata }) =>
        metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`)
      )
    assert.deepStrictEqual(owners({ spec: ofSet }, 0), [["StatefulSet web"]])
    assert.deepStrictEqual(owners({ spec: ofPod }, 0), [undefined])
    assert.deepStrictEqual(owners({ spec: ofPod }, 1), [["Pod web-1"]])
    const ownerReferences = [{ ...reference("ConfigMap", "config"), controller: false }]
    const spec = { ...ofSet, volumeClaimTemplates: [{ metadata: { name: "data", ownerReferences } }] }
    assert.deepStrictEqual(owners({ spec }, 0), [["ConfigMap config", "StatefulSet web"]])
  })

  it("adds a missing owner to a claim and keeps its other fields", () => {
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

  it("reports claims of another controller if the policy deletes claims", () => {
    const claims = [claim(0, { ownerReferences: [reference("ConfigMap", "config")] })]
    assert.deepStrictEqual(of({ spec: ofSet, claims }), { ...nothing, conflicting: ["data-web-0"] })
    assert.deepStrictEqual(of({ claims }), nothing)
  })

  it("reports claims that are being deleted", () => {
    const claims = [claim(0, { deletionTimestamp: "2026-01-01T00:00:00Z" })]
    assert.deepStrictEqual(of({ claims }), { ...nothing, going: ["data-web-0"] })
  })

  it("is stale while a former pod of the same name owns a claim, if claims are deleted with pods", () => {
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
