import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Annotations from "../../../../src/controllers/deployment/annotations.ts"
import * as NewReplicaSet from "../../../../src/controllers/deployment/plan/newReplicaSet.ts"
import * as Snapshot from "../../../../src/controllers/deployment/snapshot.ts"
import * as Revisions from "../../../../src/controllers/deployment/plan/revisions.ts"
import * as Rollback from "../../../../src/controllers/deployment/plan/rollback.ts"
import type { Deployment, ReplicaSet } from "../../../../src/kube/resources.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { deployment, replicaSet } from "../objects.ts"

const leftovers = Arbitrary.all({
  limit: oneOf(-1, 0, 1, 2, 3, 2147483647),
  sets: Arbitrary.array(
    Arbitrary.all({
      revision: oneOf("", "1", "2", "3", "3546343826724305831", "3546343826724305832", "x"),
      created: int(0, 2),
      size: oneOf(0, 0, 0, 1),
      replicas: oneOf(0, 0, 0, 1),
      observed: oneOf(0, 1, 1, 1),
      isLeaving: oneOf(false, false, false, true)
    }),
    { maxLength: 6 }
  )
})

type Leftovers = typeof leftovers extends Arbitrary.Arbitrary<infer A> ? A : never

const old = ({ sets }: Leftovers): ReadonlyArray<ReplicaSet> =>
  sets.map(({ created, isLeaving, observed, replicas, revision, size }, i) =>
    replicaSet({
      name: `web-${i}`,
      created,
      size,
      replicas,
      revision: revision === "" ? undefined : revision,
      status: { observedGeneration: observed },
      ...(isLeaving ? { metadata: { name: `web-${i}`, deletionTimestamp: "2026-01-31T12:00:00Z" } } : {})
    })
  )

const limited = ({ limit }: Leftovers): Deployment =>
  deployment({ spec: limit < 0 ? {} : { revisionHistoryLimit: limit } })

const isLeaving = (set: ReplicaSet): boolean => set.metadata.deletionTimestamp !== undefined

const isIdle = (set: ReplicaSet): boolean =>
  set.spec?.replicas === 0 && set.status?.replicas === 0 && set.status.observedGeneration === 1

const rank = (set: ReplicaSet): bigint => {
  const text = set.metadata.annotations?.[Annotations.revision] ?? ""
  return /^\d+$/.test(text) ? BigInt(text) : 0n
}

describe("Cleanup", () => {
  checkProperty("a set with pods, or one that is being deleted, is kept", leftovers, (facts) =>
    Revisions.surplus(limited(facts), old(facts)).every((set) => isIdle(set) && !isLeaving(set))
  )

  checkProperty("the limit is a lower bound, and without a limit everything is kept", leftovers, (facts) => {
    const sets = old(facts)
    const deleted = Revisions.surplus(limited(facts), sets)
    if (facts.limit < 0 || facts.limit === 2147483647) return deleted.length === 0
    return (
      sets.filter((set) => !isLeaving(set)).length - deleted.length >=
      Math.min(facts.limit, sets.filter((set) => !isLeaving(set)).length)
    )
  })

  checkProperty(
    "of the sets above the limit, by revision, all idle ones are deleted, and no others in their place",
    leftovers,
    (facts) => {
      if (facts.limit < 0 || facts.limit === 2147483647) return true
      const deleted = Revisions.surplus(limited(facts), old(facts))
      const present = old(facts).filter((set) => !isLeaving(set))
      const names = deleted.map(({ metadata }) => metadata.name)
      const excess = Math.max(0, present.length - facts.limit)
      const older = (a: ReplicaSet, b: ReplicaSet): boolean => {
        const [x, y] = [rank(a), rank(b)]
        const [s, t] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp}${metadata.name}`)
        return x < y || (x === y && (s ?? "") < (t ?? ""))
      }
      return present.every((set) => {
        const isOver = present.filter((other) => older(other, set)).length < excess
        return names.includes(set.metadata.name) === (isOver && isIdle(set))
      })
    }
  )
})

/** A Deployment and the sets of its successive templates, each created as the controller does. */
const history = Arbitrary.all({
  images: Arbitrary.array(oneOf("a", "b", "c", "d"), { minLength: 1, maxLength: 5 }),
  asked: oneOf(-1, 0, 1, 2, 3, 4, 9),
  ownNote: oneOf("kept", "also kept")
})

type History = typeof history extends Arbitrary.Arbitrary<infer A> ? A : never

const at = ({ asked, ownNote }: History, image: string): Deployment =>
  deployment({
    image,
    annotations: {
      [`only-${image}`]: "x",
      cause: image,
      "kubectl.kubernetes.io/last-applied-configuration": ownNote,
      [Annotations.rollbackTo]: String(asked)
    }
  })

const rolledOut = (facts: History) => {
  let owned: ReadonlyArray<ReplicaSet> = []
  for (const [i, image] of facts.images.entries()) {
    const { current, old } = Snapshot.find(at(facts, image), owned)
    const draft = NewReplicaSet.draft(at(facts, image), old)
    const made: ReplicaSet = {
      ...draft,
      metadata: {
        ...draft.metadata,
        name: draft.metadata.name,
        uid: `uid-${i}`,
        creationTimestamp: `2026-01-31T12:00:0${i}Z`
      },
      status: { replicas: 0 }
    }
    const updated = current === undefined ? made : (NewReplicaSet.update(at(facts, image), current, old) ?? current)
    owned = [...old, updated]
  }
  const present = at(facts, facts.images.at(-1) ?? "a")
  return { deployment: present, sets: Snapshot.find(present, owned) }
}

/** The final revisions and their images: the last number of each image. */
const revisions = ({ images }: History): ReadonlyMap<number, string> => {
  const numbers = new Map<string, number>()
  for (const [i, image] of images.entries()) {
    if (i > 0 && images[i - 1] === image) continue
    const others = [...numbers].filter(([other]) => other !== image).map(([, number]) => number)
    numbers.set(image, Math.max(0, ...others) + 1)
  }
  return new Map([...numbers].map(([image, number]) => [number, image]))
}

/** The requested image. */
const wanted = (facts: History): string | undefined => {
  const all = revisions(facts)
  const descending = [...all.keys()].sort((a, b) => b - a)
  return all.get(facts.asked === 0 ? (descending[1] ?? 0) : facts.asked)
}

const sorted = (annotations: Annotations.Annotations): string =>
  JSON.stringify(Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1)))

describe("Rollback", () => {
  checkProperty("undo restores exactly the template and the annotations of that revision", history, (facts) => {
    const { deployment, sets } = rolledOut(facts)
    const { deployment: next } = Rollback.decide(deployment, sets, BigInt(facts.asked))
    const image = wanted(facts)
    const expected = at(facts, image ?? facts.images.at(-1) ?? "a")
    const { [Annotations.rollbackTo]: _, ...annotations } = Annotations.of(expected)
    return (
      JSON.stringify(next.spec) === JSON.stringify(expected.spec) &&
      sorted(Annotations.of(next)) === sorted(annotations)
    )
  })

  checkProperty("the request is removed in any case, and an event has the result", history, (facts) => {
    const { deployment, sets } = rolledOut(facts)
    const { deployment: next, event } = Rollback.decide(deployment, sets, BigInt(facts.asked))
    const image = wanted(facts)
    const revision = [...revisions(facts)].find(([, one]) => one === image)?.[0]
    const expected =
      image === undefined
        ? facts.asked === 0
          ? "Warning DeploymentRollbackRevisionNotFound Unable to find last revision."
          : "Warning DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to."
        : image === facts.images.at(-1)
          ? 'Warning DeploymentRollbackTemplateUnchanged The rollback revision contains the same template as current deployment "web"'
          : `Normal DeploymentRollback Rolled back deployment "web" to revision ${revision}`
    return (
      Annotations.of(next)[Annotations.rollbackTo] === undefined &&
      `${event.type} ${event.reason} ${event.message}` === expected
    )
  })
})

describe("a rollback request", () => {
  const requested = (text: string) =>
    Rollback.requested(deployment({ annotations: { [Annotations.rollbackTo]: text } }))

  it("is an int64; other texts are no request", () => {
    assert.strictEqual(requested("3546343826724305832"), 3546343826724305832n)
    assert.strictEqual(requested("0"), 0n)
    for (const text of ["", "last", "1.0", "9223372036854775808"]) assert.isUndefined(requested(text))
    assert.isUndefined(Rollback.requested(deployment()))
  })

  it("for a revision that no set has in parsable form finds none", () => {
    const sets = { current: undefined, old: [replicaSet({ revision: "x" })] }
    const { event } = Rollback.decide(deployment(), sets, 7n)
    assert.strictEqual(event.message, "Unable to find the revision to rollback to.")
  })
})
