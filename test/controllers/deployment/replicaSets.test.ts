import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as ReplicaSets from "../../../src/controllers/deployment/replicaSets.ts"
import { int, law, oneOf, prove } from "../../support/laws.ts"
import { deployment, replicaSet } from "./objects.ts"

/** Hash labels say nothing: several sets may carry one, and the new set any. */
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

prove<typeof ReplicaSets>({
  path: "controllers/deployment/replicaSets.ts",
  module: ReplicaSets,
  laws: [
    law("the new set is the oldest with the Deployment's template, whatever the hash", owned, ({ find }, facts) => {
      const all = sets(facts)
      const { current } = find(deployment({ image: "a" }), all)
      const same = all.filter((set) => imageOf(set) === "a")
      return current === undefined
        ? same.length === 0
        : imageOf(current) === "a" && places([current])[0] === [...places(same)].sort()[0]
    }),
    law("the others are old, by age, each once", owned, ({ find }, facts) => {
      const all = sets(facts)
      const { current, old } = find(deployment({ image: "a" }), all)
      const found = current === undefined ? [...old] : [...old, current]
      return isSorted(places(old)) && found.length === all.length && all.every((set) => found.includes(set))
    }),
    law("a set that was written takes its own place", owned, ({ all, find, replace }, facts) => {
      const before = find(deployment({ image: "a" }), sets(facts))
      return all(before).every((set) => {
        const written = { ...set, metadata: { ...set.metadata, resourceVersion: "2" } }
        const after = replace(before, written)
        return (
          JSON.stringify(places(all(after))) === JSON.stringify(places(all(before))) &&
          all(after).filter((one) => one.metadata.resourceVersion === "2").length === 1 &&
          all(after).includes(written) &&
          (before.current === set) === (after.current === written)
        )
      })
    })
  ],
  mutants: [
    {
      title: "found by hash",
      find: "sameTemplate(set.spec?.template, deployment.spec?.template))",
      replace:
        "set.spec?.template?.metadata?.labels?.[hashLabel] === deployment.spec?.template?.metadata?.labels?.[hashLabel])"
    },
    {
      title: "the hash counts",
      find: "Equality.equal(withoutHash(a), withoutHash(b))",
      replace: "Equality.equal(a, b)"
    },
    { title: "the newest of several", find: "sorted.find(", replace: "sorted.findLast(" },
    {
      title: "all that are equal are new",
      find: "set !== current)",
      replace: "!sameTemplate(set.spec?.template, current?.spec?.template))"
    },
    {
      title: "names do not matter",
      find: "a.metadata.name < b.metadata.name ? -1",
      replace: "a.metadata.name > b.metadata.name ? -1"
    },
    { title: "newest first", find: "createdAt(a) - createdAt(b)", replace: "createdAt(b) - createdAt(a)" },
    { title: "what is written is new", find: "return isOld\n", replace: "return isOld && sets.current === undefined\n" }
  ]
})

describe("templates", () => {
  it("lose the hash label and nothing else", () => {
    const template = { metadata: { labels: { app: "web", [ReplicaSets.hashLabel]: "h" } }, spec: { containers: [] } }
    assert.deepStrictEqual(ReplicaSets.withoutHash(template), {
      metadata: { labels: { app: "web" } },
      spec: { containers: [] }
    })
    assert.isUndefined(ReplicaSets.withoutHash(undefined))
  })
})
