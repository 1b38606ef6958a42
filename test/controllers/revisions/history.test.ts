/** The history of a template as ControllerRevisions: spec E.6, G.8.2. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as History from "../../../src/controllers/revisions/history.ts"
import { type ControllerRevision, DaemonSet } from "../../../src/kube/resources.ts"
import { int, law, prove } from "../../support/laws.ts"

type Module = typeof History

/** Templates that differ in nothing but the image, written in several ways. */
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
  /** Data that no loop writes. */
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

prove<Module>({
  path: "controllers/revisions/history.ts",
  module: History,
  laws: [
    law("a revision is of a template however both are written", histories, ({ isOf: is }, { image, revisions, way }) =>
      revisions.every((facts, i) => is(revisionOf(facts, i), templateOf(image, way)) === isOf(facts, image))
    ),
    law("what is made of a template is of it, and of no other", twice, ({ dataOf: make, isOf: is }, { a, b }) => {
      const made = {
        metadata: { name: "r" },
        revision: 1,
        data: make(templateOf(a.image, a.way))
      } as ControllerRevision
      return is(made, templateOf(b.image, b.way)) === (a.image === b.image)
    }),
    law("the same template is the same text, in whatever order it is written", twice, ({ dataOf: make }, { a, b }) => {
      const [x, y] = [templateOf(a.image, 0), templateOf(b.image, 1)]
      const plain = JSON.parse(text(y).replace(',"env":[]', "")) as object
      return (text(make(x)) === text(make(plain))) === (a.image === b.image)
    }),
    law("the patch brings back the template, and nothing of what was before", twice, ({ dataOf: make }, { a }) => {
      const { spec } = make(templateOf(a.image, a.way)) as {
        readonly spec: { readonly template: Record<string, unknown> }
      }
      const { $patch, ...rest } = spec.template
      return (
        $patch === "replace" &&
        Object.keys(rest).toSorted().join() === "metadata,spec" &&
        Object.keys(spec).length === 1
      )
    }),
    law("each revision is the current one, its duplicate, or old", histories, ({ of }, { image, revisions, way }) => {
      const all = revisions.map(revisionOf)
      const { current, duplicates, old } = of(all, templateOf(image, way))
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
    }),
    law("of several the last used stays; the old are in order", histories, ({ of }, { image, revisions, way }) => {
      const { current, duplicates, old } = of(revisions.map(revisionOf), templateOf(image, way))
      const weigh = ({ metadata, revision }: ControllerRevision) =>
        `${revision}${metadata.creationTimestamp}${metadata.name}`
      return (
        duplicates.every((one) => current !== undefined && weigh(one) < weigh(current)) &&
        old.every((one, i) => i === 0 || weigh(old[i - 1] as ControllerRevision) < weigh(one))
      )
    }),
    law(
      "its number is higher than all old ones, and no higher than it has to be",
      histories,
      ({ of }, { image, revisions, way }) => {
        const { current, number, old } = of(revisions.map(revisionOf), templateOf(image, way))
        const highest = Math.max(0, ...old.map(({ revision }) => revision))
        return number === (current !== undefined && current.revision > highest ? current.revision : highest + 1)
      }
    ),
    law("above the limit the oldest go that nobody is of", cleanups, ({ excess }, { limit, revisions, used }) => {
      const old = revisions.map(revisionOf)
      const gone = excess(old, limit, (hash) => used.some((one) => one === hash))
      const idle = old.filter((_, i) => !used.includes((revisions[i] as Facts).image))
      const surplus = Math.max(0, old.length - limit)
      return (
        gone.map(({ metadata }) => metadata.name).join() ===
        idle
          .slice(0, surplus)
          .map(({ metadata }) => metadata.name)
          .join()
      )
    }),
    law(
      "a new one is its owner's, bears the labels of the template and the name of its hash",
      twice,
      ({ draft, hashOf }, { a }) => {
        const owner = { metadata: { name: "log", namespace: "ns", uid: "u", annotations: { why: "a" } } }
        const made = draft({
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
          hashOf(made) === a.image &&
          ownerReferences?.length === 1 &&
          ownerReferences[0]?.uid === "u" &&
          ownerReferences[0].controller === true &&
          made.revision === a.number &&
          text(made.data) === text(History.dataOf(templateOf(a.image, a.way)))
        )
      }
    )
  ],
  mutants: [
    { title: "the patch adds to what was", find: '$patch: "replace", ...(sorted', replace: "...(sorted" },
    { title: "keys are as they come", find: ".sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))", replace: "" },
    { title: "lists are as they come", find: "value.map(sorted)", replace: "value" },
    { title: "anything is a patch", find: '$patch === "replace" ? kept : undefined', replace: "kept ?? $patch" },
    {
      title: "every template is alike",
      find: "Equality.equal(kept, template)",
      replace: "true || Equality.equal(kept, template)"
    },
    {
      title: "spelling matters",
      find: "Equality.equal(kept, template)",
      replace: "JSON.stringify(kept) === JSON.stringify(template)"
    },
    { title: "the first one is the current", find: "same.at(-1)", replace: "same.at(0)" },
    { title: "the current one is its own duplicate", find: "same.slice(0, -1)", replace: "same" },
    { title: "its own revisions are old", find: "!same.includes(revision)", replace: "true" },
    {
      title: "a template that comes back keeps its number",
      find: "Math.max(next, current?.revision ?? 0)",
      replace: "current?.revision ?? next"
    },
    {
      title: "numbers grow for nothing",
      find: "Math.max(next, current?.revision ?? 0)",
      replace: "Math.max(next, (current?.revision ?? -1) + 1)"
    },
    {
      title: "the number is that of the last old one",
      find: "(old.at(-1)?.revision ?? 0) + 1",
      replace: "(old.at(-1)?.revision ?? 1)"
    },
    { title: "numbers are not looked at", find: "a.revision - b.revision ||", replace: "" },
    {
      title: "of equals any is the first",
      find: "compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp)",
      replace: "compare(b.metadata.creationTimestamp, a.metadata.creationTimestamp)"
    },
    { title: "who is in use goes", find: '.filter((revision) => !isUsed(hashOf(revision) ?? ""))', replace: "" },
    { title: "all that nobody is of go", find: ".slice(0, surplus)", replace: "" },
    { title: "one too many goes", find: "old.length - limit", replace: "old.length - limit + 1" },
    { title: "the youngest go", find: '?? "")).slice(0, surplus)', replace: '?? "")).slice(-surplus)' },
    {
      title: "it is nobody's",
      find: "ownerReferences: [Owner.reference(resource, owner)]",
      replace: "ownerReferences: []"
    },
    { title: "it has no hash", find: "[label]: hash }", replace: "...(label === hash ? {} : {}) }" },
    {
      title: "what changed is not said",
      find: "...(annotations === undefined ? {} : { annotations })",
      replace: "...{}"
    }
  ]
})
