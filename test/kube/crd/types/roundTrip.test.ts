/**
 * The definition that is made of a generated module says what the original says: it allows, prunes and fills in the same, in all versions. And
 * objects pass through the generated Schemas unchanged.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Crd from "../../../../src/kube/crd/Crd.ts"
import * as Definition from "../../../../src/kube/crd/types/definition.ts"
import * as Module from "../../../../src/kube/crd/types/Module.ts"
import { preferred } from "../../../../src/kube/crd/types/resource.ts"
import { applyDefaults } from "../../../../src/kube/structural/applyDefaults.ts"
import { canonical } from "../../../../src/kube/structural/lists.ts"
import { prune } from "../../../../src/kube/structural/prune.ts"
import type { StructuralSchema } from "../../../../src/kube/structural/StructuralSchema.ts"
import { validate } from "../../../../src/kube/structural/validate.ts"
import { runs } from "../../../support/runs.ts"
import { checkProperty } from "../../../support/property.ts"
import { type Case, cases, objectOf } from "./definitions.ts"
import { resourcesOf } from "./evaluate.ts"
import { normal } from "./normal.ts"

/** What the API server does with an object: the stored form, or that it is invalid. */
const outcome = (
  schema: StructuralSchema,
  object: unknown
): { readonly isValid: boolean; readonly stored: unknown } => {
  const stored = applyDefaults(schema, prune(schema, object).value)
  return { stored, isValid: validate(schema, stored).length === 0 }
}

const versionsOf = (definition: Pick<Crd.CustomResourceDefinition, "spec">) =>
  new Map(definition.spec.versions.map((version) => [version.name, version.schema.openAPIV3Schema]))

/** Shows the first difference of two long texts. */
const assertSame = (found: string, expected: string): void => {
  const at = Array.from(found).findIndex((character, index) => character !== expected[index])
  const around = (text: string): string => text.slice(Math.max(0, at - 150), at + 150)
  if (found !== expected) assert.fail(`… ${around(found)} … instead of … ${around(expected)} …`)
}

/** Objects that were compared, so that the property is not one of invalid objects alone. */
const counts = { valid: 0, invalid: 0 }

/** Throws at the first difference. */
const compare = ({ definition, more }: Case): boolean => {
  assert.isTrue(Result.isSuccess(Definition.read(definition)), JSON.stringify(Definition.read(definition)))
  const [resource] = resourcesOf([definition])
  assert.isDefined(resource)
  const made = Result.getOrThrow(Crd.make(resource))
  assertSame(normal(made), normal(definition))
  const schemas = versionsOf(made)
  for (const version of definition.spec.versions) {
    const [before, after] = [version.schema.openAPIV3Schema, schemas.get(version.name)]
    assert.isDefined(after)
    for (let count = 0; count < 4; count += 1) {
      const object = objectOf(before, more)
      const [left, right] = [outcome(before, object), outcome(after, object)]
      assertSame(canonical(right), canonical(left))
      counts[left.isValid ? "valid" : "invalid"] += 1
      if (!left.isValid || version !== preferred(definition)) continue
      const stored = left.stored as never
      if (JSON.stringify(stored).includes(String(2 ** 55))) continue
      const decoded = Result.getOrThrow(resource.decode(stored))
      assertSame(canonical(Result.getOrThrow(resource.encode(decoded, stored))), canonical(stored))
    }
  }
  return true
}

describe("types of a definition", () => {
  checkProperty(
    "say what the definition says, and objects pass through them unchanged",
    cases,
    (one) => Effect.sync(() => compare(one)),
    { runs: runs(600) }
  )

  it("were compared by valid and by invalid objects", () => {
    assert.isAbove(counts.valid, counts.invalid / 4)
    assert.isAbove(counts.invalid, counts.valid / 4)
  })

  checkProperty("are the same text for the same definition", cases, ({ definition }) => {
    const text = () => Module.source(Module.make([definition]), [definition.metadata.name])
    return text() === text()
  })
})
