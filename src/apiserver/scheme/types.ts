/**
 * The type table: for each kind and each type that it refers to, the fields with their types and how they merge. OpenAPI, the
 * decoding of writes, and patches use it. The data is text in `generated/`, one line for each type, and is parsed when a type is
 * first needed.
 *
 *     Type@ field!*&:form~key+@=default …
 *
 * | mark | meaning |
 * |---|---|
 * | `!` | required |
 * | `*` | a pointer in Go: a zero value is kept; without the mark, a zero scalar is the same as an absent one |
 * | `&` | without omitempty: always encoded, as null or a zero value if absent; this also holds for required fields |
 * | `@` | atomic in server-side apply |
 * | `~key` | a strategic merge patch merges the list by this key |
 * | `~` | a strategic merge patch merges the list as a set |
 * | `+` | patch strategy retainKeys, together with merge; `^` is retainKeys alone |
 * | `|` | patch strategy replace |
 *
 * A form is a letter (see `Scalar`), a type (of this group, or `group.Type`), `{}` for a map of, `[]` for a list of, `[=]` for a list
 * that is a set, or `[a,b]` for a list whose elements are identified by these members. An empty list or map is dropped unless the
 * field is always encoded.
 */
import { core } from "../generated/coreTypes.ts"
import { groups } from "../generated/types.ts"

/** Schemas of definitions have the form `j`, any object: `kube/structural` parses them. */
const apiextensions = `
CustomResourceColumnDefinition description:s format:s jsonPath!:s name!:s priority:i type!:s
CustomResourceConversion strategy!:s webhook:WebhookConversion
CustomResourceDefinition apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:CustomResourceDefinitionSpec status&:CustomResourceDefinitionStatus
CustomResourceDefinitionCondition lastTransitionTime:t message:s observedGeneration:l reason:s status!:s type!:s
CustomResourceDefinitionNames categories:[]s kind!:s listKind:s plural!:s shortNames:[]s singular:s
CustomResourceDefinitionSpec conversion:CustomResourceConversion group!:s names!:CustomResourceDefinitionNames preserveUnknownFields:b scope!:s versions!:[]CustomResourceDefinitionVersion
CustomResourceDefinitionStatus acceptedNames&:CustomResourceDefinitionNames conditions:[type]CustomResourceDefinitionCondition storedVersions:[]s
CustomResourceDefinitionVersion additionalPrinterColumns:[]CustomResourceColumnDefinition deprecated:b deprecationWarning*:s name!:s schema:CustomResourceValidation selectableFields:[]SelectableField served!:b storage!:b subresources:CustomResourceSubresources
CustomResourceSubresourceScale labelSelectorPath*:s specReplicasPath!:s statusReplicasPath!:s
CustomResourceSubresources scale:CustomResourceSubresourceScale status*:j
CustomResourceValidation openAPIV3Schema*:j
SelectableField jsonPath!:s
ServiceReference name!:s namespace!:s path*:s port*:i
WebhookClientConfig caBundle:y service:ServiceReference url*:s
WebhookConversion clientConfig:WebhookClientConfig conversionReviewVersions!:[]s
`

/** Served by kube-aggregator and by a metrics server, and not by kube-apiserver itself. */
const apiregistration = `
APIService apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:APIServiceSpec status&:APIServiceStatus
APIServiceCondition lastTransitionTime&:t message:s reason:s status!:s type!:s
APIServiceSpec caBundle:y group:s groupPriorityMinimum!:i insecureSkipTLSVerify:b service:ServiceReference version:s versionPriority!:i
APIServiceStatus conditions:[type]APIServiceCondition~type
ServiceReference name:s namespace:s port*:i
`
const metrics = `
ContainerMetrics name!:s usage!:{}q
NodeMetrics apiVersion:s kind:s metadata&:meta.ObjectMeta timestamp!:t usage!:{}q window!:s
PodMetrics apiVersion:s containers!:[]ContainerMetrics kind:s metadata&:meta.ObjectMeta timestamp!:t window!:s
`

const tables: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...groups, apiextensions, apiregistration, core, metrics })
)

/**
 * s string, y bytes in base64, i int32, l int64, d double, b boolean, t date-time, u the same with microseconds,
 * x int-or-string, q quantity, j any object.
 */
export type Scalar = "s" | "y" | "i" | "l" | "d" | "b" | "t" | "u" | "x" | "q" | "j"

export type FieldType =
  | { readonly _tag: "Scalar"; readonly scalar: Scalar }
  /** Another type, by its name in this table. */
  | { readonly _tag: "Ref"; readonly type: string }
  | { readonly _tag: "Map"; readonly element: FieldType }
  | { readonly _tag: "List"; readonly element: FieldType; readonly merge: "atomic" | "set" | ReadonlyArray<string> }

export interface Field {
  readonly fieldType: FieldType
  readonly required: boolean
  /** A pointer in Go: zero and absent differ, and an absent value is null. */
  readonly pointer: boolean
  /** Without omitempty in Go: encoded even if there is no value. */
  readonly always: boolean
  /** Strategic merge patch: `key` merges a list by this member, or as a set if empty; `retain` is retainKeys; `replace` does not merge. */
  readonly patch: { readonly key: string | undefined; readonly retain: boolean; readonly replace: boolean } | undefined
  /** A map that server-side apply owns as a whole. */
  readonly atomic: boolean
  readonly default: string | undefined
}

export interface Type {
  /** `core.Pod`. */
  readonly id: string
  /** `Pod`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, Field>
}

/** API group of a table; the others are `<name>.k8s.io`. */
const plainGroups: Readonly<Record<string, string>> = {
  apps: "apps",
  autoscaling: "autoscaling",
  autoscaling2: "autoscaling",
  batch: "batch",
  core: "",
  flowcontrol: "flowcontrol.apiserver.k8s.io",
  policy: "policy",
  rbac: "rbac.authorization.k8s.io"
}

/** API version of a table; that of the others is v1. */
const versionOf = (table: string): string => (table === "autoscaling2" ? "v2" : table === "metrics" ? "v1beta1" : "v1")

const groupOf = (table: string): string => plainGroups[table] ?? `${table}.k8s.io`

const tableOf: ReadonlyMap<string, string> = new Map(
  [...tables.keys()]
    .filter((table) => table !== "meta")
    .map((table) => [`${groupOf(table)}/${versionOf(table)}`, table])
)

const lines = new Map<string, ReadonlyMap<string, string>>()

const linesOf = (table: string): ReadonlyMap<string, string> => {
  const known = lines.get(table)
  if (known !== undefined) return known
  const read = new Map<string, string>()
  for (const line of (tables.get(table) ?? "").trim().split("\n")) read.set(/^\w+/.exec(line)?.[0] ?? "", line)
  lines.set(table, read)
  return read
}

const known = new Map<string, Type | undefined>()

/** A type by its name in the table, `core.Pod`. Lists of kinds are derived, because all have the same fields. */
export const find = (id: string): Type | undefined => {
  if (known.has(id)) return known.get(id)
  const [table = "", name = ""] = id.split(".")
  const line = linesOf(table).get(name) ?? listLine(table, name)
  const type = line === undefined ? undefined : parse(table, line)
  known.set(id, type)
  return type
}

/** Like `find`, for names that come from the table itself. */
export const get = (id: string): Type => {
  const found = find(id)
  if (found === undefined) throw new Error(`no type ${id}`)
  return found
}

/** The type of a kind, when the table has it. */
export const ofKind = (kind: {
  readonly group: string
  readonly version: string
  readonly kind: string
}): Type | undefined => {
  const table = tableOf.get(`${kind.group}/${kind.version}`)
  return table === undefined ? undefined : find(`${table}.${kind.kind}`)
}

const listLine = (table: string, name: string): string | undefined => {
  if (!name.endsWith("List")) return undefined
  const item = name.slice(0, -"List".length)
  if (!linesOf(table).has(item)) return undefined
  return `${name} apiVersion:s items!:[]${item} kind:s metadata&:meta.ListMeta`
}

const parse = (table: string, line: string): Type => {
  const [head = "", ...fields] = line.split(" ")
  const name = head.replace("@", "")
  return {
    id: `${table}.${name}`,
    name,
    group: groupOf(table),
    version: versionOf(table),
    atomic: head.endsWith("@"),
    fields: new Map(fields.map((text) => parseField(table, text)))
  }
}

const fieldPattern =
  /^(?<name>\w+)(?<required>!)?(?<pointer>\*)?(?<always>&)?:(?<form>(?:\{\}|\[[^\]]*\])*[\w.]+)(?<patch>[~^]\w*\+?|\|)?(?<atomic>@)?(?:=(?<value>.*))?$/

const parseField = (table: string, text: string): readonly [string, Field] => {
  const groups = fieldPattern.exec(text)?.groups ?? {}
  const { always, atomic, form: formText = "", name = "", patch, pointer, required, value } = groups
  const fieldType = parseFieldType(table, formText)
  const isPointer =
    pointer !== undefined || (fieldType._tag === "Ref" && required === undefined && always === undefined)
  return [
    name,
    {
      fieldType,
      required: required !== undefined,
      pointer: isPointer,
      always: always !== undefined || (required !== undefined && !isPointer),
      patch:
        patch === undefined
          ? undefined
          : {
              key: patch.startsWith("~") ? patch.slice(1).replace("+", "") : undefined,
              retain: patch === "^" || patch.endsWith("+"),
              replace: patch === "|"
            },
      atomic: atomic !== undefined,
      default: value
    }
  ]
}

const parseFieldType = (table: string, text: string): FieldType => {
  if (text.startsWith("{}")) return { _tag: "Map", element: parseFieldType(table, text.slice(2)) }
  if (text.startsWith("[")) {
    const end = text.indexOf("]")
    const inner = text.slice(1, end)
    return {
      _tag: "List",
      element: parseFieldType(table, text.slice(end + 1)),
      merge: inner === "" ? "atomic" : inner === "=" ? "set" : inner.split(",")
    }
  }
  if (text.length === 1) return { _tag: "Scalar", scalar: text as Scalar }
  return { _tag: "Ref", type: text.includes(".") ? text : `${table}.${text}` }
}
