import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Annotations from "../../../../src/controllers/deployment/annotations.ts"
import * as Bounds from "../../../../src/controllers/deployment/plan/bounds.ts"
import * as NewReplicaSet from "../../../../src/controllers/deployment/plan/newReplicaSet.ts"
import * as ReplicaSets from "../../../../src/controllers/deployment/replicaSets.ts"
import * as Snapshot from "../../../../src/controllers/deployment/snapshot.ts"
import * as Revisions from "../../../../src/controllers/deployment/plan/revisions.ts"
import type { ReplicaSet } from "../../../../src/kube/resources.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { deployment, replicaSet } from "../objects.ts"

const keys = [
  "note",
  "kubernetes.io/change-cause",
  "kubectl.kubernetes.io/last-applied-configuration",
  Annotations.revision,
  Annotations.revisionHistory,
  Annotations.desiredReplicas,
  Annotations.maxReplicas,
  Annotations.rollbackTo
] as const

const notCopied: ReadonlyArray<string> = keys.slice(2)

/** For each key: absent, or one of two values. */
const annotations = Arbitrary.all(keys.map(() => oneOf("", "1", "2"))).pipe(
  Arbitrary.map((values) =>
    Object.fromEntries(keys.map((key, i) => [key, values[i] ?? ""]).filter(([, value]) => value !== ""))
  )
)

const revision = oneOf("", "0", "1", "2", "5", "x", "3546343826724305832")

const old = Arbitrary.array(Arbitrary.all({ size: int(0, 5), revision }), { maxLength: 3 }).pipe(
  Arbitrary.map((all) =>
    all.map(({ revision, size }, i) =>
      replicaSet({ name: `old-${i}`, size, revision: revision === "" ? undefined : revision })
    )
  )
)

const scene = Arbitrary.all({
  ofDeployment: annotations,
  ofSet: annotations,
  revision,
  history: oneOf("", "1", "1,3"),
  minReady: int(0, 1),
  wantedMinReady: int(0, 1),
  replicas: int(0, 10),
  surge: int(0, 4),
  collisionCount: oneOf(-1, 0, 1),
  old
}).pipe(
  Arbitrary.map((facts) => {
    const { [Annotations.revision]: _, [Annotations.revisionHistory]: __, ...ofSet } = facts.ofSet
    const set = replicaSet({
      name: "new",
      image: "web:1",
      revision: facts.revision === "" ? undefined : facts.revision,
      annotations: { ...ofSet, ...(facts.history === "" ? {} : { [Annotations.revisionHistory]: facts.history }) }
    })
    return {
      deployment: deployment({
        replicas: facts.replicas,
        surge: facts.surge,
        annotations: facts.ofDeployment,
        spec: facts.wantedMinReady === 0 ? {} : { minReadySeconds: facts.wantedMinReady },
        status: facts.collisionCount < 0 ? {} : { collisionCount: facts.collisionCount }
      }),
      current:
        facts.minReady === 0 || set.spec === undefined
          ? set
          : { ...set, spec: { ...set.spec, minReadySeconds: facts.minReady } },
      old: facts.old
    }
  })
)

const notes = (set: ReplicaSet | undefined) => set?.metadata.annotations ?? {}

describe("NewReplicaSet", () => {
  checkProperty("one update is enough", scene, ({ current, deployment, old }) => {
    const once = NewReplicaSet.update(deployment, current, old)
    return once === undefined || NewReplicaSet.update(deployment, once, old) === undefined
  })

  checkProperty(
    "after an update it has the Deployment's annotations, and keeps its others",
    scene,
    ({ current, deployment, old }) => {
      const next = NewReplicaSet.update(deployment, current, old)
      if (Revisions.of(current) === undefined) {
        const sameReadiness = (current.spec?.minReadySeconds ?? 0) === (deployment.spec?.minReadySeconds ?? 0)
        return notes(next ?? current)[Annotations.revision] === "x" && (next === undefined) === sameReadiness
      }
      const after = notes(next ?? current)
      return keys.every((key) => {
        if (key === Annotations.revision || key === Annotations.revisionHistory) return true
        const given = notCopied.includes(key) ? undefined : deployment.metadata.annotations?.[key]
        return after[key] === (given ?? notes(current)[key])
      })
    }
  )

  checkProperty(
    "its revision is above all others and never decreases; the former one goes to the history",
    scene,
    ({ current, deployment, old }) => {
      const former = Revisions.of(current)
      if (former === undefined) return true
      const after = NewReplicaSet.update(deployment, current, old) ?? current
      const now = Revisions.of(after) ?? -1n
      const [before, history] = [notes(current)[Annotations.revisionHistory], notes(after)[Annotations.revisionHistory]]
      if (now <= Revisions.highest(old) || now < former) return false
      if (now === former) return before === history
      const text = notes(current)[Annotations.revision] ?? ""
      const grown = text === "" ? before : before === undefined ? text : `${before},${text}`
      return now === Revisions.highest(old) + 1n && history === grown
    }
  )

  checkProperty(
    "minReadySeconds follows the Deployment, and nothing else of the spec changes",
    scene,
    ({ current, deployment, old }) => {
      const next = NewReplicaSet.update(deployment, current, old)
      if (next === undefined) return (current.spec?.minReadySeconds ?? 0) === (deployment.spec?.minReadySeconds ?? 0)
      return (
        (next.spec?.minReadySeconds ?? 0) === (deployment.spec?.minReadySeconds ?? 0) &&
        next.spec?.replicas === current.spec?.replicas &&
        next.spec?.template === current.spec?.template &&
        next.metadata.uid === current.metadata.uid
      )
    }
  )

  checkProperty(
    "a draft has the hash in name, labels and selector, and the annotations of its size",
    scene,
    ({ deployment, old }) => {
      const made = NewReplicaSet.draft(deployment, old)
      const set: ReplicaSet = {
        ...made,
        metadata: { ...made.metadata, uid: "made", name: made.metadata.name },
        status: { replicas: 0 }
      }
      const hash = made.metadata.labels?.[ReplicaSets.hashLabel] ?? ""
      const labels = { app: "web", [ReplicaSets.hashLabel]: hash }
      const { maxTotal, replicas } = Bounds.of(deployment)
      const oldPods = ReplicaSets.sum(old, ReplicaSets.size)
      const noted = notes(set)
      return (
        Snapshot.find(deployment, [...old, set]).current === set &&
        made.metadata.name === `web-${hash}` &&
        [made.metadata.labels, made.spec?.selector.matchLabels, made.spec?.template?.metadata?.labels].every(
          (one) => JSON.stringify(one) === JSON.stringify(labels)
        ) &&
        made.spec?.replicas === Math.max(0, Math.min(replicas, maxTotal - oldPods)) &&
        made.spec?.minReadySeconds === deployment.spec?.minReadySeconds &&
        noted[Annotations.revision] === String(Revisions.highest(old) + 1n) &&
        noted[Annotations.desiredReplicas] === String(replicas) &&
        noted[Annotations.maxReplicas] === String(maxTotal) &&
        noted[Annotations.rollbackTo] === undefined &&
        noted["note"] === deployment.metadata.annotations?.["note"] &&
        made.metadata.ownerReferences?.[0]?.uid === "web-uid"
      )
    }
  )

  checkProperty("a collision changes the name", scene, ({ deployment, old }) => {
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
    const again = { ...deployment, status: { collisionCount } }
    return NewReplicaSet.draft(deployment, old).metadata.name !== NewReplicaSet.draft(again, old).metadata.name
  })
})

describe("the new set", () => {
  it("keeps the limit of names", () => {
    const long = deployment()
    const { name } = NewReplicaSet.draft(
      { ...long, metadata: { ...long.metadata, name: "x".repeat(253) } },
      []
    ).metadata
    assert.strictEqual(name.length, 253)
    assert.match(name, /^x+-[a-z0-9]{1,10}$/)
  })

  it("has the revision after the highest old one, exact to the last digit", () => {
    const set = replicaSet({ revision: "3546343826724305832" })
    const { annotations } = NewReplicaSet.draft(deployment(), [set]).metadata
    assert.strictEqual(annotations?.[Annotations.revision], "3546343826724305833")
  })
})

describe("the fields of a new set", () => {
  it("has the namespace of its Deployment", () => {
    assert.strictEqual(NewReplicaSet.draft(deployment(), []).metadata.namespace, "ns")
    const clusterScoped = { ...deployment(), metadata: { name: "web", uid: "web-uid" } }
    assert.notProperty(NewReplicaSet.draft(clusterScoped, []).metadata, "namespace")
  })

  it("has minReadySeconds only where the Deployment has them", () => {
    assert.notProperty(NewReplicaSet.draft(deployment(), []).spec, "minReadySeconds")
    assert.strictEqual(NewReplicaSet.draft(deployment({ spec: { minReadySeconds: 5 } }), []).spec?.minReadySeconds, 5)
    const current = replicaSet({ name: "new", revision: "1" })
    assert.notProperty(
      NewReplicaSet.update(deployment({ annotations: { note: "1" } }), current, [])?.spec,
      "minReadySeconds"
    )
    const updated = NewReplicaSet.update(deployment({ spec: { minReadySeconds: 5 } }), current, [])
    assert.strictEqual(updated?.spec?.minReadySeconds, 5)
    assert.deepStrictEqual(notes(updated), notes(current))
  })
})
