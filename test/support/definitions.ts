/** CustomResourceDefinitions of tests whose controllers read no fields of the objects. */
import type * as Resource from "../../src/kube/Resource.ts"

/** A schema that accepts every object. */
const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }

/** A definition with one version and no validation. */
export const definitionOf = (
  { group, kind, plural, version }: Pick<Resource.Any, "group" | "version" | "kind" | "plural">,
  { scope = "Namespaced", subresources }: { readonly scope?: Resource.Scope; readonly subresources?: object } = {}
) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, test only" } },
  spec: {
    group,
    scope,
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      { name: version, served: true, storage: true, schema, ...(subresources === undefined ? {} : { subresources }) }
    ]
  }
})

/** The definition without the validation of its versions. */
export const withoutValidation = <
  Version extends object,
  Spec extends { readonly versions: ReadonlyArray<Version> }
>(definition: {
  readonly spec: Spec
}) => ({
  ...definition,
  spec: { ...definition.spec, versions: definition.spec.versions.map((version) => ({ ...version, schema })) }
})
