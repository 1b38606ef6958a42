import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as ReplicaSets from "../../../src/controllers/deployment/replicaSets.ts"
import * as Snapshot from "../../../src/controllers/deployment/snapshot.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"
import { deployment, replicaSet } from "./objects.ts"

/** Hash labels do not matter: several sets may have the same one, and the new set any. */
const owned = Arbitrary.array(
  Arbitrary.all({ image: oneOf("a", "b"), created: int(0, 3), hash: oneOf("", "h1", "h2") }),
  { maxLength: 6 }
)

type Owned = typeof owned extends Arbitrary.Arbitrary<infer A> ? A : never

const sets = (facts: Owned) =>
  facts.map(({ created, hash, image }, i) =>
    replicaSet({
      name: `web-${(i * 5) % 7}`,
      created,
      image,
      labels: hash === "" ? { app: "web" } : { app: "web", [ReplicaSets.hashLabel]: hash }
    })
  )

const imageOf = (set: ReturnType<typeof replicaSet>) => set.spec?.template?.spec?.containers[0]?.image

const places = (all: ReadonlyArray<ReturnType<typeof replicaSet>>): ReadonlyArray<string> =>
  all.map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`)

const isSorted = (texts: ReadonlyArray<string>): boolean =>
  texts.every((one, i) => i === 0 || (texts[i - 1] ?? "") < one)

describe("Snapshot", () => {
  checkProperty("the new set is the oldest with the Deployment's template, whatever the hash", owned, (facts) => {
    const all = sets(facts)
    const { current } = Snapshot.find(deployment({ image: "a" }), all)
    const same = all.filter((set) => imageOf(set) === "a")
    return current === undefined
      ? same.length === 0
      : imageOf(current) === "a" && places([current])[0] === [...places(same)].sort()[0]
  })

  checkProperty("the others are old, oldest first, each once", owned, (facts) => {
    const all = sets(facts)
    const { current, old } = Snapshot.find(deployment({ image: "a" }), all)
    const found = current === undefined ? [...old] : [...old, current]
    return isSorted(places(old)) && found.length === all.length && all.every((set) => found.includes(set))
  })

  checkProperty("a written set replaces its former state", owned, (facts) => {
    const before = Snapshot.find(deployment({ image: "a" }), sets(facts))
    return Snapshot.all(before).every((set) => {
      const written = { ...set, metadata: { ...set.metadata, resourceVersion: "2" } }
      const after = Snapshot.replace(before, written)
      return (
        JSON.stringify(places(Snapshot.all(after))) === JSON.stringify(places(Snapshot.all(before))) &&
        Snapshot.all(after).filter((one) => one.metadata.resourceVersion === "2").length === 1 &&
        Snapshot.all(after).includes(written) &&
        (before.current === set) === (after.current === written)
      )
    })
  })
})

describe("templates", () => {
  it("are compared without the hash label alone", () => {
    const template = { metadata: { labels: { app: "web", [ReplicaSets.hashLabel]: "h" } }, spec: { containers: [] } }
    assert.deepStrictEqual(ReplicaSets.withoutHash(template), {
      metadata: { labels: { app: "web" } },
      spec: { containers: [] }
    })
    assert.isUndefined(ReplicaSets.withoutHash(undefined))
  })
})

describe("the label of a set's pods", () => {
  it("is pod-template-hash, and does not count when templates are compared", () => {
    const labelled = (hash: string) => replicaSet({ labels: { app: "web", "pod-template-hash": hash } }).spec?.template
    assert.isTrue(ReplicaSets.sameTemplate(labelled("a"), labelled("b")))
    assert.isTrue(ReplicaSets.sameTemplate(labelled("a"), replicaSet().spec?.template))
    assert.isFalse(ReplicaSets.sameTemplate(labelled("a"), undefined))
    assert.deepStrictEqual(ReplicaSets.withoutHash({ metadata: {} }), { metadata: {} })
    assert.deepStrictEqual(ReplicaSets.withoutHash({}), {})
  })
})

describe("Snapshot", () => {
  it("sort by age, those of one second by name", () => {
    const [a, b, older] = [
      replicaSet({ name: "a", created: 2 }),
      replicaSet({ name: "b", created: 2 }),
      replicaSet({ name: "c", created: 1 })
    ]
    assert.deepStrictEqual([b, a, older].sort(ReplicaSets.byAge), [older, a, b])
    assert.strictEqual(ReplicaSets.byAge(a, a), 0)
    assert.isAbove(ReplicaSets.byAge(b, a), 0)
    assert.isBelow(ReplicaSets.byAge(a, b), 0)
  })

  it("without spec and status have one desired replica and no actual one", () => {
    const bare = { metadata: { name: "a" } }
    assert.deepStrictEqual([ReplicaSets.size(bare), ReplicaSets.available(bare), ReplicaSets.replicas(bare)], [1, 0, 0])
  })
})
