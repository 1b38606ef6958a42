/**
 * The schema of a custom resource as a CustomResourceDefinition has it (`openAPIV3Schema`): the part of JSON schema that the API allows, with
 * its own extensions. It is plain JSON and may come from a client, so it is well formed only after `check` has accepted it.
 * Rules in CEL (`x-kubernetes-validations`) are compiled and evaluated by `kube/cel`.
 * Source: apiextensions.k8s.io/v1 JSONSchemaProps.
 */

export type Type = "array" | "boolean" | "integer" | "number" | "object" | "string"

export interface StructuralSchema {
  readonly type?: Type
  readonly title?: string
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly example?: unknown
  readonly externalDocs?: { readonly description?: string; readonly url?: string }
  /** Null is a valid value; elsewhere null means that the field is absent. */
  readonly nullable?: boolean
  readonly enum?: ReadonlyArray<unknown>

  readonly properties?: Readonly<Record<string, StructuralSchema>>
  /** The schema of all members that are not named; excludes `properties`. */
  readonly additionalProperties?: StructuralSchema | boolean
  readonly required?: ReadonlyArray<string>
  readonly minProperties?: number
  readonly maxProperties?: number

  readonly items?: StructuralSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean

  /** Counted in characters, not in bytes. */
  readonly minLength?: number
  readonly maxLength?: number
  /** Found anywhere in the text, unless anchored. */
  readonly pattern?: string

  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number

  /** Only narrow the values: they cannot declare types, defaults or fields. */
  readonly allOf?: ReadonlyArray<StructuralSchema>
  readonly anyOf?: ReadonlyArray<StructuralSchema>
  readonly oneOf?: ReadonlyArray<StructuralSchema>
  readonly not?: StructuralSchema

  readonly "x-kubernetes-preserve-unknown-fields"?: boolean
  /** The value is an object of the API: apiVersion, kind and metadata are known. */
  readonly "x-kubernetes-embedded-resource"?: boolean
  readonly "x-kubernetes-int-or-string"?: boolean
  readonly "x-kubernetes-list-type"?: "atomic" | "map" | "set"
  readonly "x-kubernetes-list-map-keys"?: ReadonlyArray<string>
  readonly "x-kubernetes-map-type"?: "atomic" | "granular"
  readonly "x-kubernetes-validations"?: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** What is wrong with one field, in the form that a `Status` has it. */
export interface Cause {
  /** `spec.size`; `<nil>` where it is the object as a whole. */
  readonly field: string
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldValueTypeInvalid`, … */
  readonly reason: string
  /** Without the field: `Required value`, `Invalid value: 5: spec.size in body should be less than or equal to 3`. */
  readonly message: string
}

export type Members = Readonly<Record<string, unknown>>

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An own member, so that names such as `constructor` find nothing inherited. */
export const member = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

/** The schema of a member; undefined where the schema does not know it. */
export const propertyOf = (schema: StructuralSchema, name: string): StructuralSchema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined

/** The schemas of a list such as `allOf`, each with its path: `allOf[0]`. */
export const indexed = (
  name: string,
  schemas: ReadonlyArray<StructuralSchema> = []
): ReadonlyArray<readonly [string, StructuralSchema]> =>
  schemas.map((one, index) => [`${name}[${index}]`, one] as const)

/** The schema of the members that are not named, if one is given. */
export const additionalOf = (schema: StructuralSchema): StructuralSchema | undefined =>
  typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined

/** Whether the value is a null that stands for an absent field. */
export const isAbsent = (value: unknown, schema: StructuralSchema | undefined): boolean =>
  value === null && schema !== undefined && schema.nullable !== true

/** Sets a member of any name, `__proto__` too. */
export const put = (members: Record<string, unknown>, name: string, value: unknown): void => {
  if (name === "__proto__") {
    Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
  } else members[name] = value
}
