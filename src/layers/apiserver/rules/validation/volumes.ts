/** Volumes of a pod and where its containers mount them. Source: core validation of the reference server. */
import { arrayAt, at, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json } from "../../json.ts"
import { duplicate, forbidden, invalid, notFound, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as Quantity from "../../../../kube/quantity.ts"

/** Names of the volumes that are well formed, for the mounts to refer to. */
export const volumes = (errors: Errors, field: string, list: ReadonlyArray<Json>): ReadonlySet<string> => {
  const known = new Set<string>()
  for (const [index, volume] of list.entries()) {
    const path = `${field}[${index}]`
    const before = errors.length
    source(errors, path, volume)
    const name = textAt(volume, "name")
    if (name === "") errors.push(required(`${path}.name`))
    else pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
    if (known.has(name)) errors.push(duplicate(`${path}.name`, name))
    if (errors.length === before) known.add(name)
  }
  return known
}

/** Members that must be there, by kind of source. */
const needed: Readonly<Record<string, ReadonlyArray<readonly [path: ReadonlyArray<string>, detail?: string]>>> = {
  hostPath: [[["path"]]],
  secret: [[["secretName"]]],
  configMap: [[["name"]]],
  persistentVolumeClaim: [[["claimName"]]],
  nfs: [[["server"]], [["path"]]],
  csi: [[["driver"]]],
  ephemeral: [[["volumeClaimTemplate"]]]
}

const source = (errors: Errors, path: string, volume: Json): void => {
  const kinds = isObject(volume) ? Object.keys(volume).filter((key) => key !== "name") : []
  for (const [index, kind] of kinds.entries()) {
    const own = `${path}.${kind}`
    if (index > 0) {
      errors.push(forbidden(own, "may not specify more than 1 volume type"))
      continue
    }
    for (const [member] of needed[kind] ?? []) {
      if (at(volume, kind, ...member) === undefined || at(volume, kind, ...member) === "") {
        errors.push(required(`${own}.${member.join(".")}`))
      }
    }
    if (kind === "emptyDir" && Quantity.isNegative(at(volume, kind, "sizeLimit"))) {
      errors.push(forbidden(`${own}.sizeLimit`, "SizeLimit field must be a valid resource quantity"))
    }
    mode(errors, `${own}.defaultMode`, at(volume, kind, "defaultMode"))
    items(errors, `${own}.items`, arrayAt(volume, kind, "items"), kind)
  }
  if (kinds.length === 0) errors.push(required(path, "must specify a volume type"))
}

const mode = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value === "number" && (value < 0 || value > 0o777)) {
    errors.push(invalid(field, value, "must be a number between 0 and 0777 (octal), both inclusive"))
  }
}

const items = (errors: Errors, field: string, list: ReadonlyArray<Json>, kind: string): void => {
  if (kind !== "configMap" && kind !== "secret") return
  for (const [index, item] of list.entries()) {
    const path = `${field}[${index}]`
    if (textAt(item, "key") === "") errors.push(required(`${path}.key`))
    const target = textAt(item, "path")
    if (target === "") errors.push(required(`${path}.path`))
    else localPath(errors, `${path}.path`, target)
    mode(errors, `${path}.mode`, at(item, "mode"))
  }
}

const localPath = (errors: Errors, field: string, path: string): void => {
  if (path.startsWith("/")) errors.push(invalid(field, path, "must be a relative path"))
  if (path.split("/").includes("..")) errors.push(invalid(field, path, "must not contain '..'"))
}

const propagations = ["Bidirectional", "HostToContainer", "None"]

export const mounts = (errors: Errors, field: string, container: Json, known: ReadonlySet<string>): void => {
  const points = new Set<string>()
  for (const [index, mount] of arrayAt(container, "volumeMounts").entries()) {
    const path = `${field}[${index}]`
    const name = textAt(mount, "name")
    if (name === "") errors.push(required(`${path}.name`))
    if (!known.has(name)) errors.push(notFound(`${path}.name`, name))
    const point = textAt(mount, "mountPath")
    if (point === "") errors.push(required(`${path}.mountPath`))
    if (points.has(point)) errors.push(invalid(`${path}.mountPath`, point, "must be unique"))
    points.add(point)
    const sub = textAt(mount, "subPath")
    if (sub !== "") localPath(errors, `${path}.subPath`, sub)
    const expression = textAt(mount, "subPathExpr")
    if (expression !== "") {
      if (sub !== "") {
        errors.push(invalid(`${path}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive"))
      }
      localPath(errors, `${path}.subPathExpr`, expression)
    }
    const propagation = get(objectAt(mount) ?? {}, "mountPropagation")
    if (typeof propagation === "string" && !propagations.includes(propagation)) {
      errors.push(notSupported(`${path}.mountPropagation`, propagation, propagations))
    }
  }
}
