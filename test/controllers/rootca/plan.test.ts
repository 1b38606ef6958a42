/** Whatever is found in whatever namespace, one write makes it right and a second look writes nothing. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/rootca/plan.ts"
import type { ConfigMap } from "../../../src/kube/resources.ts"
import { law, prove } from "../../support/laws.ts"

type Module = typeof Plan

const description = "kubernetes.io/description"

const Text = Schema.Literals(["", "ours", "others"])

const Facts = Schema.Struct({
  isThere: Schema.Boolean,
  ca: Text,
  more: Schema.Boolean,
  words: Text,
  label: Schema.Boolean
})

type Facts = typeof Facts.Type

const rootCa = "ours"

const foundOf = ({ ca, isThere, label, more, words }: Facts): ConfigMap | undefined =>
  isThere
    ? {
        metadata: {
          namespace: "app",
          name: Plan.name,
          resourceVersion: "7",
          ...(words === "" ? {} : { annotations: { [description]: words } }),
          ...(label ? { labels: { a: "b" } } : {})
        },
        ...(ca === "" && !more ? {} : { data: { ...(ca === "" ? {} : { "ca.crt": ca }), ...(more ? { x: "y" } : {}) } })
      }
    : undefined

const gather = (facts: Facts): Plan.Gathered => ({ namespace: "app", found: foundOf(facts), rootCa })

/** What is there after the plan was carried out. */
const after = (plan: Plan.Plan, found: ConfigMap | undefined): ConfigMap | undefined => {
  switch (plan._tag) {
    case "Done":
      return found
    case "Create":
      return { ...plan.draft, metadata: { ...plan.draft.metadata, name: plan.draft.metadata.name ?? "" } }
    case "Update":
      return plan.object
  }
}

const facts = Arbitrary.schema(Facts)

prove<Module>({
  path: "controllers/rootca/plan.ts",
  module: Plan,
  laws: [
    law("a namespace has exactly the authorities, and words beside them", facts, ({ plan }: Module, one) => {
      const left = after(plan(gather(one)), foundOf(one))
      return (
        left?.metadata.name === "kube-root-ca.crt" &&
        left.metadata.namespace === "app" &&
        JSON.stringify(left.data) === JSON.stringify({ "ca.crt": rootCa }) &&
        (left.metadata.annotations?.[description] ?? "") !== ""
      )
    }),
    law("a second look writes nothing", facts, ({ plan }: Module, one) => {
      const gathered = gather(one)
      return plan({ ...gathered, found: after(plan(gathered), gathered.found) })._tag === "Done"
    }),
    law("what is as it should be is not written, whosever the words are", facts, ({ plan }: Module, one) =>
      one.ca === "ours" && !one.more && one.words !== "" && one.isThere ? plan(gather(one))._tag === "Done" : true
    ),
    law("an update is of the state that was read, and keeps what others added", facts, ({ plan }: Module, one) => {
      const made = plan(gather(one))
      if (made._tag !== "Update") return true
      const { metadata } = made.object
      return metadata.resourceVersion === "7" && (metadata.labels?.["a"] === "b") === one.label
    })
  ],
  mutants: [
    { title: "more keys are overlooked", find: "Object.keys(data).length === 1", replace: "true" },
    { title: "missing words are overlooked", find: '?? "") !== ""', replace: '?? "") !== "x"' },
    { title: "everything is written anew", find: "if (isSaid(found, rootCa)) return", replace: "if (false) return" },
    {
      title: "labels are lost",
      find: "{ ...found.metadata, annotations }",
      replace: "{ ...found.metadata, labels: {}, annotations }"
    },
    { title: "its name is another", find: 'name = "kube-root-ca.crt"', replace: 'name = "kube-root-ca"' }
  ]
})
