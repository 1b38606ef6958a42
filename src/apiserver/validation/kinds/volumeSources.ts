/**
 * Volume sources of pods and, with few differences, of PersistentVolumes. Source: pkg/apis/core/validation:
 * validateVolumeSource, in its order: the first source is validated, others are reported as too many.
 */
import { arrayAt, at, get, isObject, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Quantity from "../../../kube/quantity.ts"
import { downward, items, localPath, mode, noSteps } from "./files.ts"
import { forbidden, invalid, notSupported, pushAll, required, stringList } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { projected } from "./projections.ts"

export type Check = (errors: Errors, path: string, source: JsonObject) => void

/** A check that these members are not empty. */
export const needs =
  (...members: ReadonlyArray<string>): Check =>
  (errors, path, source) => {
    for (const member of members) if (textAt(source, member) === "") errors.push(required(`${path}.${member}`))
  }

const lists =
  (member: string, ...texts: ReadonlyArray<string>): Check =>
  (errors, path, source) => {
    if (arrayAt(source, member).length === 0) errors.push(required(`${path}.${member}`))
    needs(...texts)(errors, path, source)
  }

const between = (errors: Errors, field: string, value: Json | undefined, low: number, high: number): void => {
  if (typeof value === "number" && (value < low || value > high)) {
    errors.push(invalid(field, value, `must be between ${low} and ${high}, inclusive`))
  }
}

/** A disk of a cloud provider: its name and its partition, 0 for the whole disk. */
const disk =
  (member: string, field = ""): Check =>
  (errors, path, source) => {
    const own = field === "" ? path : path.slice(0, path.lastIndexOf(".") + 1) + field
    needs(member)(errors, own, source)
    const partition = get(source, "partition")
    if (partition !== 0) between(errors, `${own}.partition`, partition, 1, 255)
  }

const emptyDir: Check = (errors, path, source) => {
  if (Quantity.isNegative(get(source, "sizeLimit"))) {
    errors.push(forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity"))
  }
}

const hostTypes = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"]

const hostPath: Check = (errors, path, source) => {
  const place = textAt(source, "path")
  if (place === "") {
    errors.push(required(`${path}.path`))
    return
  }
  noSteps(errors, `${path}.path`, place)
  const type = textAt(source, "type")
  if (!hostTypes.includes(type)) errors.push(notSupported(`${path}.type`, type, hostTypes))
}

const gitRepo: Check = (errors, path, source) => {
  needs("repository")(errors, path, source)
  localPath(errors, `${path}.directory`, textAt(source, "directory"))
}

const data =
  (name: "secretName" | "name"): Check =>
  (errors, path, source) => {
    needs(name)(errors, path, source)
    mode(errors, `${path}.defaultMode`, get(source, "defaultMode"))
    items(errors, `${path}.items`, arrayAt(source, "items"))
  }

const nfs: Check = (errors, path, source) => {
  needs("server", "path")(errors, path, source)
  const place = textAt(source, "path")
  if (!place.startsWith("/")) errors.push(invalid(`${path}.path`, place, "must be an absolute path"))
}

const iqn =
  /^iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$|^eui\.[A-Za-z0-9]{16}$|^naa\.[A-Za-z0-9]{16}(?:[A-Za-z0-9]{16})?$/

const iscsi: Check = (errors, path, source) => {
  needs("targetPortal", "iqn")(errors, path, source)
  const name = textAt(source, "iqn")
  const own = `${path}.iqn`
  if (name !== "" && !/^(iqn|eui|naa)/.test(name)) {
    errors.push(invalid(own, name, "must be valid format starting with iqn, eui, or naa"))
  } else if (name !== "" && !iqn.test(name)) errors.push(invalid(own, name, "must be valid format"))
  between(errors, `${path}.lun`, get(source, "lun"), 0, 255)
  const chap = get(source, "chapAuthDiscovery") === true || get(source, "chapAuthSession") === true
  if (chap && get(source, "secretRef") === undefined) errors.push(required(`${path}.secretRef`))
  const initiator = get(source, "initiatorName")
  if (typeof initiator === "string" && !iqn.test(initiator)) {
    errors.push(invalid(`${path}.initiatorname`, initiator, "must be valid format"))
  }
}

const flocker: Check = (errors, path, source) => {
  const [name, id] = [textAt(source, "datasetName"), textAt(source, "datasetUUID")]
  if (name === "" && id === "") errors.push(required(path, "one of datasetName and datasetUUID is required"))
  if (name !== "" && id !== "") {
    errors.push(invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
  }
  if (name.includes("/")) errors.push(invalid(`${path}.datasetName`, name, "must not contain '/'"))
}

const cinder: Check = (errors, path, source) => {
  needs("volumeID")(errors, path, source)
  const secret = objectAt(source, "secretRef")
  if (secret !== undefined && textAt(secret, "name") === "") errors.push(required(`${path}.secretRef.name`))
}

const quobyte: Check = (errors, path, source) => {
  const registry = textAt(source, "registry")
  const detail = "must be a host:port pair or multiple pairs separated by commas"
  if (registry === "") errors.push(required(`${path}.registry`, detail))
  else if (registry.split(",").some((pair) => !/^[^:]+:\d+$/.test(pair))) {
    errors.push(invalid(`${path}.registry`, registry, detail))
  }
  needs("volume")(errors, path, source)
}

const fc: Check = (errors, path, source) => {
  const [targets, names] = [arrayAt(source, "targetWWNs"), arrayAt(source, "wwids")]
  const own = `${path}.targetWWNs`
  if (targets.length === 0 && names.length === 0) {
    errors.push(required(own, "must specify either targetWWNs or wwids, but not both"))
  }
  if (targets.length > 0 && names.length > 0) {
    errors.push(invalid(own, stringList(targets), "targetWWNs and wwids can not be specified simultaneously"))
  }
  const lun = get(source, "lun")
  if (targets.length === 0 || names.length > 0) return
  if (lun === undefined) errors.push(required(`${path}.lun`, "lun is required if targetWWNs is specified"))
  else between(errors, `${path}.lun`, lun, 0, 255)
}

const cachings = ["None", "ReadOnly", "ReadWrite"]
const diskKinds = ["Dedicated", "Managed", "Shared"]

const azureDisk: Check = (errors, path, source) => {
  needs("diskName", "diskURI")(errors, path, source)
  const [caching, kind] = [textAt(source, "cachingMode"), textAt(source, "kind")]
  if (caching !== "" && !cachings.includes(caching)) {
    errors.push(notSupported(`${path}.cachingMode`, caching, cachings))
  }
  if (kind !== "" && !diskKinds.includes(kind)) errors.push(notSupported(`${path}.kind`, kind, diskKinds))
  const uri = textAt(source, "diskURI")
  const [managed, blob] = [
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
    "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
  ]
  if (kind === "Managed" && !uri.startsWith("/subscriptions")) {
    errors.push(notSupported(`${path}.diskURI`, uri, [managed]))
  }
  if (kind !== "Managed" && kind !== "" && !uri.startsWith("https://")) {
    errors.push(notSupported(`${path}.diskURI`, uri, [blob]))
  }
}

/** The driver name of a CSI volume, in a pod or a PersistentVolume. */
export const csiDriver: Check = (errors, path, source) => {
  const driver = textAt(source, "driver")
  if (driver === "") errors.push(required(`${path}.driver`))
  pushAll(errors, `${path}.driver`, driver, formats.dnsSubdomain(driver.toLowerCase()))
}

const csi: Check = (errors, path, source) => {
  csiDriver(errors, path, source)
  const secret = objectAt(source, "nodePublishSecretRef")
  // The field path has this space in kube-apiserver, too.
  if (secret !== undefined && textAt(secret, "name") === "") errors.push(required(`${path}.nodePublishSecretRef .name`))
}

const pullPolicies = ["Always", "IfNotPresent", "Never"]

const image: Check = (errors, path, source) => {
  needs("reference")(errors, path, source)
  const policy = textAt(source, "pullPolicy")
  if (policy !== "" && !pullPolicies.includes(policy)) {
    errors.push(notSupported(`${path}.pullPolicy`, policy, pullPolicies))
  }
}

const downwardApi: Check = (errors, path, source) => {
  mode(errors, `${path}.defaultMode`, get(source, "defaultMode"))
  downward(errors, path, arrayAt(source, "items"))
}

const nothing: Check = () => undefined

/** The volume sources, in the order of validateVolumeSource. `podSpec.ts` validates the claim template of `ephemeral`. */
export const kinds: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    emptyDir,
    hostPath,
    gitRepo,
    gcePersistentDisk: disk("pdName", "persistentDisk"),
    awsElasticBlockStore: disk("volumeID"),
    secret: data("secretName"),
    nfs,
    iscsi,
    glusterfs: needs("endpoints", "path"),
    flocker,
    persistentVolumeClaim: needs("claimName"),
    rbd: lists("monitors", "image"),
    cinder,
    cephfs: lists("monitors"),
    quobyte,
    downwardAPI: downwardApi,
    fc,
    flexVolume: needs("driver"),
    configMap: data("name"),
    azureFile: needs("secretName", "shareName"),
    vsphereVolume: needs("volumePath"),
    photonPersistentDisk: needs("pdID"),
    portworxVolume: needs("volumeID"),
    azureDisk,
    storageos: needs("volumeName"),
    projected,
    scaleIO: needs("gateway", "system", "volumeName"),
    csi,
    ephemeral: nothing,
    image
  } satisfies Record<string, Check>)
)

/** Each volume has exactly one source. */
export const source = (errors: Errors, path: string, volume: Json): void => {
  const given = [...kinds].filter(([kind]) => isObject(at(volume, kind)))
  for (const [index, [kind, check]] of given.entries()) {
    const own = `${path}.${kind}`
    if (index > 0) errors.push(forbidden(own, "may not specify more than 1 volume type"))
    else check(errors, own, objectAt(volume, kind) ?? {})
  }
  if (given.length === 0) errors.push(required(path, "must specify a volume type"))
}
