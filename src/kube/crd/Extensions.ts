/**
 * Annotations that add to a structural schema what the Schema itself does not express: `Schema.Array(…).annotate({
 * "x-kubernetes-list-type": "set" })`. They are copied as they are; `title`, `description` and `format` are copied too.
 * Source: apiextensions.k8s.io/v1 JSONSchemaProps.
 */
import type { StructuralSchema } from "../structural/StructuralSchema.ts"

/** A rule in CEL, for the API server; the descriptor of the kind evaluates it too. Source: apiextensions.k8s.io/v1 ValidationRule. */
export interface Rule {
  readonly [key: string]: unknown
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

export interface Extensions {
  /** How lists are merged, and that elements of a `set` or a `map` are unique. Default of the API server: `atomic`. */
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map" | undefined
  /** The fields that identify an element of a `map` list; each is required or has a default. */
  readonly "x-kubernetes-list-map-keys"?: ReadonlyArray<string> | undefined
  readonly "x-kubernetes-map-type"?: "granular" | "atomic" | undefined
  /** Fields that the Schema does not know are stored instead of being pruned. */
  readonly "x-kubernetes-preserve-unknown-fields"?: true | undefined
  /** The value is a whole object with `apiVersion`, `kind` and `metadata`. */
  readonly "x-kubernetes-embedded-resource"?: true | undefined
  /** CEL rules, which API servers evaluate since 1.25. On a check, they express for the API server what the check tests here. */
  readonly "x-kubernetes-validations"?: ReadonlyArray<Rule> | undefined
}

declare module "effect/Schema" {
  namespace Annotations {
    interface Augment {
      readonly "x-kubernetes-list-type"?: Extensions["x-kubernetes-list-type"]
      readonly "x-kubernetes-list-map-keys"?: Extensions["x-kubernetes-list-map-keys"]
      readonly "x-kubernetes-map-type"?: Extensions["x-kubernetes-map-type"]
      readonly "x-kubernetes-preserve-unknown-fields"?: Extensions["x-kubernetes-preserve-unknown-fields"]
      readonly "x-kubernetes-embedded-resource"?: Extensions["x-kubernetes-embedded-resource"]
      readonly "x-kubernetes-validations"?: Extensions["x-kubernetes-validations"]
      /** On a check: what it tests, in keywords of a structural schema. `Crd.keywords` makes such checks. */
      readonly structuralKeywords?: StructuralSchema | undefined
    }
  }
}
