import { describe } from "@effect/vitest"
/** The history of a template as ControllerRevisions. Source: pkg/controller/history. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as History from "../../../../src/controllers/shared/revisions/history.ts"
import { type ControllerRevision, DaemonSet } from "../../../../src/kube/resources.ts"
import { checkProperty, int } from "../../../support/property.ts"
/** Templates that differ only in the image, in several spellings. */
const templateOf = (image: string, way: number): object => {
  const container = way === 1 ? { image, name: "main", env: [] } : { name: "main", image }
  const resources = way === 2 ? { limits: { cpu: "1000m" } } : { limits: { cpu: "1" } }
  const spec = { containers: [{ ...container, resources }], ...(way === 3 ? { hostNetwork: false } : {}) }
  return way === 1 ? { spec, metadata: { labels: { app: "log" } } } : { metadata: { labels: { app: "log" } }, spec }
}

const Facts = Schema.Struct({
  image: Schema.Literals(["v1", "v2", "v3"]),
  way: Schema.Literals([0, 1, 2, 3]),
  number: Schema.Literals([1, 2, 3, 4]),
  born: Schema.Literals([1, 2]),
  /** Data that no controller writes. */
  kind: Schema.Literals(["good", "good", "good", "good", "no patch", "no data", "a text"])
})

type Facts = typeof Facts.Type

const dataOf = ({ image, kind, way }: Facts): unknown => {
  const template = templateOf(image, way)
  if (kind === "no data") return undefined
  if (kind === "a text") return "spec"
  return { spec: { template: kind === "no patch" ? template : { $patch: "replace", ...template } } }
}

const revisionOf = (facts: Facts, i: number): ControllerRevision => ({
  metadata: {
    name: `r${i}`,
    creationTimestamp: `2000-01-0${facts.born}T00:00:00Z`,
    labels: { "controller-revision-hash": facts.image }
  },
  revision: facts.number,
  data: dataOf(facts)
})

const histories = Arbitrary.schema(
  Schema.Struct({
    revisions: Schema.Array(Facts).check(Schema.isMaxLength(6)),
    image: Schema.Literals(["v1", "v2", "v4"]),
    way: Schema.Literals([0, 1, 2, 3])
  })
)

const isOf = ({ image, kind }: Facts, wanted: string): boolean => kind === "good" && image === wanted

const cleanups = Arbitrary.all({
  revisions: Arbitrary.array(Arbitrary.schema(Facts), { maxLength: 6 }),
  limit: int(0, 4),
  used: Arbitrary.schema(Schema.Array(Schema.Literals(["v1", "v2", "v3"])))
})

const twice = Arbitrary.schema(Schema.Struct({ a: Facts, b: Facts }))

const text = JSON.stringify

describe("History", () => {
  checkProperty("a revision has a template whatever the spelling of both", histories, ({ image, revisions, way }) =>
    revisions.every((facts, i) => History.isOf(revisionOf(facts, i), templateOf(image, way)) === isOf(facts, image))
  )

  checkProperty("a revision made from a template has that template and no other", twice, ({ a, b }) => {
    const made = {
      metadata: { name: "r" },
      revision: 1,
      data: History.dataOf(templateOf(a.image, a.way))
    } as ControllerRevision
    return History.isOf(made, templateOf(b.image, b.way)) === (a.image === b.image)
  })

  checkProperty("equal templates give equal data, whatever the order of their fields", twice, ({ a, b }) => {
    const [x, y] = [templateOf(a.image, 0), templateOf(b.image, 1)]
    const plain = JSON.parse(text(y).replace(',"env":[]', "")) as object
    return (text(History.dataOf(x)) === text(History.dataOf(plain))) === (a.image === b.image)
  })

  checkProperty("the patch restores the template, and keeps nothing of the former one", twice, ({ a }) => {
    const { spec } = History.dataOf(templateOf(a.image, a.way)) as {
      readonly spec: { readonly template: Record<string, unknown> }
    }
    const { $patch, ...rest } = spec.template
    return (
      $patch === "replace" && Object.keys(rest).toSorted().join() === "metadata,spec" && Object.keys(spec).length === 1
    )
  })

  checkProperty("each revision is the current one, its duplicate, or old", histories, ({ image, revisions, way }) => {
    const all = revisions.map(revisionOf)
    const { current, duplicates, old } = History.of(all, templateOf(image, way))
    const names = (some: ReadonlyArray<ControllerRevision>) =>
      some
        .map(({ metadata }) => metadata.name)
        .toSorted()
        .join()
    const same = all.filter((_, i) => isOf(revisions[i] as Facts, image))
    return (
      names([...duplicates, ...(current === undefined ? [] : [current])]) === names(same) &&
      names(old) === names(all.filter((one) => !same.includes(one))) &&
      (current === undefined) === (same.length === 0)
    )
  })

  checkProperty(
    "of several revisions of the template the last used is current; the old ones are in order",
    histories,
    ({ image, revisions, way }) => {
      const { current, duplicates, old } = History.of(revisions.map(revisionOf), templateOf(image, way))
      const weigh = ({ metadata, revision }: ControllerRevision) =>
        `${revision}${metadata.creationTimestamp}${metadata.name}`
      return (
        duplicates.every((one) => current !== undefined && weigh(one) < weigh(current)) &&
        old.every((one, i) => i === 0 || weigh(old[i - 1] as ControllerRevision) < weigh(one))
      )
    }
  )

  checkProperty(
    "the number of the current revision is the lowest above all old ones",
    histories,
    ({ image, revisions, way }) => {
      const { current, number, old } = History.of(revisions.map(revisionOf), templateOf(image, way))
      const highest = Math.max(0, ...old.map(({ revision }) => revision))
      return number === (current !== undefined && current.revision > highest ? current.revision : highest + 1)
    }
  )

  checkProperty(
    "above the limit, the oldest revisions that are not in use are deleted",
    cleanups,
    ({ limit, revisions, used }) => {
      const old = revisions.map(revisionOf)
      const gone = History.excess(old, limit, (hash) => used.some((one) => one === hash))
      const idle = old.filter((_, i) => !used.includes((revisions[i] as Facts).image))
      const surplus = Math.max(0, old.length - limit)
      return (
        gone.map(({ metadata }) => metadata.name).join() ===
        idle
          .slice(0, surplus)
          .map(({ metadata }) => metadata.name)
          .join()
      )
    }
  )

  checkProperty(
    "a new revision has its owner, the labels of the template, and a name with its hash",
    twice,
    ({ a }) => {
      const owner = { metadata: { name: "log", namespace: "ns", uid: "u", annotations: { why: "a" } } }
      const made = History.draft({
        resource: DaemonSet,
        owner,
        template: templateOf(a.image, a.way),
        hash: a.image,
        number: a.number
      })
      const { annotations, labels, name, namespace, ownerReferences } = made.metadata
      return (
        name === `log-${a.image}` &&
        namespace === "ns" &&
        annotations?.["why"] === "a" &&
        labels?.["app"] === "log" &&
        History.hashOf(made) === a.image &&
        ownerReferences?.length === 1 &&
        ownerReferences[0]?.uid === "u" &&
        ownerReferences[0].controller === true &&
        made.revision === a.number &&
        text(made.data) === text(History.dataOf(templateOf(a.image, a.way)))
      )
    }
  )
})
