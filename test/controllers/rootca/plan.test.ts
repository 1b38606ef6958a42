/** One write makes any ConfigMap correct, and a second sync writes nothing. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Plan from "../../../src/controllers/rootca/plan.ts"
import type { ConfigMap } from "../../../src/kube/resources.ts"
import { checkProperty } from "../../support/property.ts"

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
          name: Plan.configMapName,
          resourceVersion: "7",
          ...(words === "" ? {} : { annotations: { [description]: words } }),
          ...(label ? { labels: { a: "b" } } : {})
        },
        ...(ca === "" && !more ? {} : { data: { ...(ca === "" ? {} : { "ca.crt": ca }), ...(more ? { x: "y" } : {}) } })
      }
    : undefined

const gather = (facts: Facts): Plan.Snapshot => ({ namespace: "app", found: foundOf(facts), rootCa })

/** The ConfigMap after the plan is applied. */
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

describe("Plan", () => {
  checkProperty("the ConfigMap has exactly the CA bundle and the description annotation", facts, (one) => {
    const left = after(Plan.plan(gather(one)), foundOf(one))
    return (
      left?.metadata.name === "kube-root-ca.crt" &&
      left.metadata.namespace === "app" &&
      JSON.stringify(left.data) === JSON.stringify({ "ca.crt": rootCa }) &&
      (left.metadata.annotations?.[description] ?? "") !== ""
    )
  })

  checkProperty("a second sync writes nothing", facts, (one) => {
    const gathered = gather(one)
    return Plan.plan({ ...gathered, found: after(Plan.plan(gathered), gathered.found) })._tag === "Done"
  })

  checkProperty("a correct ConfigMap is not written, whatever its description", facts, (one) =>
    one.ca === "ours" && !one.more && one.words !== "" && one.isThere ? Plan.plan(gather(one))._tag === "Done" : true
  )

  checkProperty(
    "an update has the resourceVersion that was read, and keeps labels and annotations of others",
    facts,
    (one) => {
      const made = Plan.plan(gather(one))
      if (made._tag !== "Update") return true
      const { metadata } = made.object
      return metadata.resourceVersion === "7" && (metadata.labels?.["a"] === "b") === one.label
    }
  )
})
