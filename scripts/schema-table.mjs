/**
 * Writes the type table of the embedded API server, `src/apiserver/generated/{coreTypes,types}.ts`: for every kind it may serve, and
 * everything those refer to, the names and types of the fields. Read from the models that `@kubernetes/client-node` was
 * generated with, and completed by `schema-facts.mjs` and `schema-presence.mjs`. Names and types only: no descriptions are carried
 * over.
 *
 *     node scripts/schema-table.mjs            writes
 *     node scripts/schema-table.mjs --check    fails when what is there differs
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as client from "@kubernetes/client-node"
import { facts } from "./schema-facts.mjs"
import { presence } from "./schema-presence.mjs"

const models = { ...client }
const root = fileURLToPath(new URL("..", import.meta.url))
const target = `${root}/src/apiserver/generated`

/** The groups of the table, and the kinds (and other types) that are listed explicitly; the rest is what they refer to. */
const groups = {
  meta: "APIGroup APIGroupList APIResource APIResourceList APIVersions Condition DeleteOptions LabelSelector ListMeta ManagedFieldsEntry ObjectMeta OwnerReference Preconditions Status WatchEvent",
  core: "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
  apps: "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
  batch: "CronJob Job",
  discovery: "EndpointSlice",
  coordination: "Lease",
  events: "Event",
  policy: "Eviction PodDisruptionBudget",
  autoscaling: "HorizontalPodAutoscaler Scale",
  autoscaling2: "HorizontalPodAutoscaler",
  rbac: "ClusterRole ClusterRoleBinding Role RoleBinding",
  admissionregistration:
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
  scheduling: "PriorityClass",
  storage: "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
  authentication: "SelfSubjectReview TokenRequest TokenReview",
  authorization: "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
  networking: "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
  certificates: "CertificateSigningRequest",
  node: "RuntimeClass",
  flowcontrol: "FlowSchema PriorityLevelConfiguration",
  resource: "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"
}

/** Types that several groups refer to, with their own group. */
const shared = {
  FieldSelectorRequirement: "meta",
  LabelSelectorRequirement: "meta",
  TopologySelectorLabelRequirement: "core",
  TopologySelectorTerm: "core"
}

const fail = (why) => {
  throw new Error(why)
}

/** The class of a type: the generator puts the group in front where a name occurs more than once. */
const classOf = (group, name) => {
  const version = group === "autoscaling2" ? "V2" : "V1"
  const prefix = group === "rbac" ? "Rbac" : `${group[0].toUpperCase()}${group.slice(1)}`
  return (
    [`${prefix}${version}${name}`, `${version}${name}`].find((one) => one in models) ??
    fail(`no class ${group} ${name}`)
  )
}

const nameOf = (className) => className.replace(/^([A-Z][a-z]+)?V[12](?=[A-Z])/, "")

/** Class name → group: the first group that reaches a class owns it, in the order above. */
const homes = new Map()
const fieldsOf = new Map()

const visit = (className, group) => {
  if (homes.has(className)) return
  const type = models[className] ?? fail(`no class ${className}`)
  const home = shared[nameOf(className)] ?? group
  homes.set(className, home)
  const declared = readFileSync(
    `${root}/node_modules/@kubernetes/client-node/dist/gen/models/${className}.d.ts`,
    "utf8"
  )
  const required = new Set([...declared.matchAll(/^ {4}'([^']+)':/gm)].map((match) => match[1]))
  const fields = type.attributeTypeMap.map((field) => ({
    name: field.baseName,
    required: required.has(field.name),
    type: typeOf(field, home)
  }))
  fieldsOf.set(className, fields)
}

const scalars = {
  "string:": "s",
  "string:byte": "y",
  "number:int32": "i",
  "number:int64": "l",
  "number:double": "d",
  "boolean:": "b",
  "Date:date-time": "t",
  "V1MicroTime:date-time-micro": "u",
  "IntOrString:int-or-string": "x",
  "any:": "j"
}

/** `{}` map of, `[]` list of, a letter for a scalar, a class otherwise. */
const typeOf = ({ baseName, format, type }, group) => {
  const of = (type) => {
    const list = /^(?:Array|Set)<(.*)>$/.exec(type)
    if (list !== null) return { list: of(list[1]) }
    const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)
    if (map !== null) return { map: of(map[1]) }
    const scalar = scalars[`${type}:${format}`] ?? scalars[`${type}:`]
    if (scalar !== undefined) return { scalar }
    if (type === "object") return { scalar: "j" }
    if (!(type in models)) fail(`what is ${type} ${format} of ${baseName}?`)
    visit(type, group)
    return { ref: type }
  }
  return of(type)
}

for (const [group, names] of Object.entries(groups)) {
  for (const name of names.split(" ")) visit(classOf(group, name), group)
}

/** Facts by `group.Type`. */
const factsOf = new Map(
  facts
    .trim()
    .split("\n")
    .map((line) => {
      const [name, ...fields] = line.split(" ")
      const at = fields.indexOf("@")
      if (at >= 0) fields.splice(at, 1)
      const parsed = fields.map((one) => {
        const match =
          /^(\w+)([*&]*)(\[[^\]]*\])?([~^]\w*\+?|\|)?(@)?(:q)?(=\w+)?$/.exec(one) ?? fail(`fact ${one} of ${name}`)
        const [, field, mark, list, patch, atomic, quantity, value] = match
        return [field, { mark, list, patch, atomic, quantity, value }]
      })
      return [name, { atomic: at >= 0, fields: new Map(parsed) }]
    })
)

/** Marks by `group.Type.field`. */
const marks = new Map(
  presence
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [name, ...fields] = line.split(" ")
      return fields.map((one) => [`${name}.${one.replace(/[*&]+$/, "")}`, /[*&]+$/.exec(one)[0]])
    })
)

/** Two properties are not written in the table: required fields are always written, and types that are not held by value are held by a pointer. */
const markOf = (name, field, fact) => {
  const mark = fact?.mark || (marks.get(`${name}.${field.name}`) ?? "")
  if (field.required) return mark.replace("&", "")
  return field.type.ref !== undefined && mark === "*" ? "" : mark
}

const written = (type, group, fact) => {
  if (type.list !== undefined) return `${fact?.list ?? "[]"}${written(type.list, group, { quantity: fact?.quantity })}`
  if (type.map !== undefined) return `{}${written(type.map, group, { quantity: fact?.quantity })}`
  if (type.ref !== undefined) {
    const home = homes.get(type.ref)
    return home === group ? nameOf(type.ref) : `${home}.${nameOf(type.ref)}`
  }
  return fact?.quantity === undefined ? type.scalar : "q"
}

const line = (className, group) => {
  const name = nameOf(className)
  const fact = factsOf.get(`${group}.${name}`)
  factsOf.delete(`${group}.${name}`)
  const fields = fieldsOf.get(className).map((field) => {
    const of = fact?.fields.get(field.name)
    fact?.fields.delete(field.name)
    const type = written(field.type, group, of)
    if (of?.list !== undefined && field.type.list === undefined) fail(`${name}.${field.name} is no list`)
    const mark = `${field.required ? "!" : ""}${markOf(`${group}.${name}`, field, of)}`
    return `${field.name}${mark}:${type}${of?.patch ?? ""}${of?.atomic ?? ""}${of?.value ?? ""}`
  })
  if (fact !== undefined && fact.fields.size > 0)
    fail(`facts of ${group}.${name} without field: ${[...fact.fields.keys()].join(" ")}`)
  return [`${name}${fact?.atomic === true ? "@" : ""}`, ...fields].join(" ")
}

/** One table, as an exported constant named for its group. */
const tableOf = (group) => {
  const own = [...homes].filter(([, home]) => home === group).map(([className]) => className)
  const lines = own.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).map((className) => line(className, group))
  return `const ${group} = \`
${lines.join("\n")}
\`
`
}

const others = Object.keys(groups).filter((group) => group !== "core")

/** The core group has a file of its own: the others together are as long. */
const files = {
  "coreTypes.ts": { names: ["core"], exported: "export { core }" },
  "types.ts": {
    names: others,
    exported: `export const groups = {\n${others.map((group) => `  ${group}`).join(",\n")}\n}`
  }
}

const check = process.argv.includes("--check")
for (const [file, { exported, names }] of Object.entries(files)) {
  const text = `/** Types by API group: written by scripts/schema-table.mjs, read by ../scheme/types.ts, which explains the notation. */
${names.map(tableOf).join("\n")}
${exported}
`
  if (!check) writeFileSync(`${target}/${file}`, text)
  else if (readFileSync(`${target}/${file}`, "utf8") !== text) fail(`generated/${file} is not what this writes`)
}
if (factsOf.size > 0) fail(`facts without type: ${[...factsOf.keys()].join(" ")}`)
