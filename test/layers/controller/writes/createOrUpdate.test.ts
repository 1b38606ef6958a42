import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { Draft, KubeObject } from "../../../../src/kube/Meta.ts"
import * as CreateOrUpdate from "../../../../src/layers/controller/writes/createOrUpdate.ts"
import { checkProperty } from "../../../support/property.ts"

const texts = Schema.Record(Schema.Literals(["a", "b"]), Schema.optionalKey(Schema.Literals(["1", "2"])))
const names = Schema.Literals(["x", "y"])

/** The present object, and how it is mutated. */
const cases = Arbitrary.schema(
  Schema.Struct({
    stored: Schema.UndefinedOr(
      Schema.Struct({ data: texts, labels: texts, annotations: texts, version: Schema.Literals(["7", "8"]) })
    ),
    wanted: Schema.Struct({ data: texts, labels: Schema.optionalKey(texts) }),
    /** The namespace and name of the desired object, which may be wrong. */
    says: Schema.Struct({ name: Schema.optionalKey(names), namespace: Schema.optionalKey(names) })
  })
)

type Case = typeof cases extends Arbitrary.Arbitrary<infer A> ? A : never

const place = { name: "x", namespace: "x" }

const storedOf = ({ stored }: Case): KubeObject | undefined =>
  stored === undefined
    ? undefined
    : ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          ...place,
          uid: "u",
          resourceVersion: stored.version,
          creationTimestamp: "2026-01-01T00:00:00Z",
          labels: stored.labels,
          annotations: stored.annotations
        },
        data: stored.data,
        status: { seen: true }
      } as KubeObject)

const draftOf = ({ says, wanted }: Case): Draft<KubeObject> =>
  ({
    metadata: {
      ...says,
      uid: "other",
      resourceVersion: "1",
      generation: 5,
      ...(wanted.labels === undefined ? {} : { labels: wanted.labels })
    },
    data: wanted.data
  }) as Draft<KubeObject>

const planned = (value: Case, current = storedOf(value)) => CreateOrUpdate.plan(place, current, draftOf(value))

const isRight = ({ says }: Case): boolean => (says.name ?? "x") === "x" && (says.namespace ?? "x") === "x"

const checkPlan = (title: string, holds: (value: Case, step: ReturnType<typeof planned>) => boolean): void =>
  checkProperty(title, cases, (value) => holds(value, planned(value)))

const text = (value: unknown): string =>
  JSON.stringify(Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))

const differs = ({ stored, wanted }: Case): boolean =>
  text(stored?.data) !== text(wanted.data) ||
  (wanted.labels !== undefined && text(stored?.labels) !== text(wanted.labels))

describe("CreateOrUpdate.plan", () => {
  checkPlan(
    "another name or namespace is refused, and nothing else",
    (value, step) => (step._tag === "Refuse") === !isRight(value)
  )

  checkPlan("what is not there is created in its place", (value, step) =>
    !isRight(value) || value.stored !== undefined
      ? step._tag !== "Create"
      : step._tag === "Create" && step.draft.metadata.name === "x" && step.draft.metadata.namespace === "x"
  )

  checkPlan(
    "what is there is written exactly if it would mean something else",
    (value, step) =>
      !isRight(value) || value.stored === undefined || step._tag === (differs(value) ? "Update" : "Nothing")
  )

  checkPlan(
    "an update stands on the object and the version that were read",
    (value, step) =>
      step._tag !== "Update" ||
      (step.object.metadata.resourceVersion === value.stored?.version && step.object.metadata.uid === "u")
  )

  checkPlan(
    "an update keeps what the draft does not say of the metadata",
    (value, step) =>
      step._tag !== "Update" ||
      (text(step.object.metadata.annotations) === text(value.stored?.annotations) &&
        text(step.object.metadata.labels) === text(value.wanted.labels ?? value.stored?.labels))
  )

  checkPlan("after its own write there is nothing more to do", (value, step) => {
    if (step._tag !== "Update" && step._tag !== "Create") return true
    const written = step._tag === "Update" ? step.object : step.draft
    const stored = { ...written, metadata: { ...written.metadata, uid: "u", resourceVersion: "9" } } as KubeObject
    return planned(value, stored)._tag === "Nothing"
  })
})
