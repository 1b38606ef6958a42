/**
 * Volume mounts and volume devices of containers. Source: pkg/apis/core/validation: ValidateVolumeMounts,
 * ValidateVolumeDevices, including field paths that name the list instead of its element.
 */
import { arrayAt, at, objectAt, textAt } from "../../json.ts"
import type { Json } from "../../json.ts"
import { forbidden, invalid, notFound, notSupported, required } from "./field.ts"
import type { Errors } from "./field.ts"
import { localPath } from "./files.ts"

/** The valid volumes of the pod, by name. */
export type Volumes = ReadonlyMap<string, Json>

const propagations = ["Bidirectional", "HostToContainer", "None"]

const values = (list: ReadonlyArray<Json>, key: string): ReadonlySet<string> =>
  new Set(list.map((one) => textAt(one, key)))

export const mounts = (errors: Errors, path: string, container: Json, known: Volumes): void => {
  const field = `${path}.volumeMounts`
  const devices = arrayAt(container, "volumeDevices")
  const [deviceNames, devicePaths] = [values(devices, "name"), values(devices, "devicePath")]
  const points = new Set<string>()
  for (const [index, mount] of arrayAt(container, "volumeMounts").entries()) {
    const own = `${field}[${index}]`
    const name = textAt(mount, "name")
    if (name === "") errors.push(required(`${own}.name`))
    if (!known.has(name)) errors.push(notFound(`${own}.name`, name))
    const point = textAt(mount, "mountPath")
    if (point === "") errors.push(required(`${own}.mountPath`))
    if (points.has(point)) errors.push(invalid(`${own}.mountPath`, point, "must be unique"))
    points.add(point)
    if (deviceNames.has(name)) errors.push(invalid(`${own}.name`, name, "must not already exist in volumeDevices"))
    if (devicePaths.has(point)) {
      errors.push(invalid(`${own}.mountPath`, point, "must not already exist as a path in volumeDevices"))
    }
    parts(errors, field, own, mount)
    propagation(errors, `${field}.mountPropagation`, at(mount, "mountPropagation"), container)
  }
}

const parts = (errors: Errors, field: string, own: string, mount: Json): void => {
  const part = textAt(mount, "subPath")
  if (part !== "") localPath(errors, `${field}.subPath`, part)
  const expression = textAt(mount, "subPathExpr")
  if (expression === "") return
  if (part !== "") {
    errors.push(invalid(`${own}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive"))
  }
  localPath(errors, `${field}.subPathExpr`, expression)
}

const propagation = (errors: Errors, field: string, value: Json | undefined, container: Json): void => {
  if (typeof value !== "string") return
  if (!propagations.includes(value)) errors.push(notSupported(field, value, propagations))
  if (value === "Bidirectional" && at(container, "securityContext", "privileged") !== true) {
    errors.push(forbidden(field, "Bidirectional mount propagation is available only to privileged containers"))
  }
}

/** Only a claim can be a volume device. */
const isClaim = (volume: Json | undefined): boolean =>
  ["persistentVolumeClaim", "ephemeral"].some((kind) => objectAt(volume, kind) !== undefined)

export const devices = (errors: Errors, path: string, container: Json, known: Volumes): void => {
  const mounted = arrayAt(container, "volumeMounts")
  const [mountNames, mountPaths] = [values(mounted, "name"), values(mounted, "mountPath")]
  const names = new Set<string>()
  const paths = new Set<string>()
  for (const [index, device] of arrayAt(container, "volumeDevices").entries()) {
    const own = `${path}.volumeDevices[${index}]`
    const name = textAt(device, "name")
    const place = textAt(device, "devicePath")
    if (name === "") errors.push(required(`${own}.name`))
    if (names.has(name)) errors.push(invalid(`${own}.name`, name, "must be unique"))
    names.add(name)
    if (!known.has(name)) errors.push(notFound(`${own}.name`, name))
    else if (!isClaim(known.get(name))) {
      const detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
      errors.push(invalid(`${own}.name`, name, detail))
    }
    if (place === "") errors.push(required(`${own}.devicePath`))
    if (paths.has(place)) errors.push(invalid(`${own}.devicePath`, place, "must be unique"))
    if (place.split("/").includes("..")) {
      errors.push(invalid(`${own}.devicePath`, place, "can not contain backsteps ('..')"))
    } else paths.add(place)
    if (mountNames.has(name)) errors.push(invalid(`${own}.name`, name, "must not already exist in volumeMounts"))
    if (mountPaths.has(place)) {
      errors.push(invalid(`${own}.devicePath`, place, "must not already exist as a path in volumeMounts"))
    }
  }
}
