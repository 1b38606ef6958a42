/**
 * Containers of a pod or of a pod template: names, images, ports, environment, probes. Source: core validation of the
 * reference server, in its order, since several errors are told in order.
 */
import { arrayAt, at, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { duplicate, forbidden, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import * as resources from "./resources.ts"
import * as volumes from "./volumes.ts"

const pullPolicies = ["Always", "IfNotPresent", "Never"]
const protocols = ["SCTP", "TCP", "UDP"]

export const containers = (
  errors: Errors,
  field: string,
  list: ReadonlyArray<Json>,
  known: ReadonlySet<string>,
  initial = false
): void => {
  if (list.length === 0 && !initial) {
    errors.push(required(field))
    return
  }
  const taken = new Set<string>()
  for (const [index, one] of list.entries()) container(errors, `${field}[${index}]`, one, taken, known)
  hostPorts(errors, field, list)
}

const container = (errors: Errors, path: string, one: Json, taken: Set<string>, known: ReadonlySet<string>): void => {
  const name = textAt(one, "name")
  if (name === "") errors.push(required(`${path}.name`))
  else pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
  if (taken.has(name)) errors.push(duplicate(`${path}.name`, name))
  else taken.add(name)
  if (textAt(one, "image") === "") errors.push(required(`${path}.image`))
  lifecycle(errors, `${path}.lifecycle`, at(one, "lifecycle"))
  probe(errors, `${path}.livenessProbe`, at(one, "livenessProbe"), true)
  const message = textAt(one, "terminationMessagePolicy")
  if (message !== "File" && message !== "FallbackToLogsOnError") {
    const detail = "must be 'File' or 'FallbackToLogsOnError'"
    errors.push(invalid(`${path}.terminationMessagePolicy`, message, detail))
  }
  probe(errors, `${path}.readinessProbe`, at(one, "readinessProbe"), false)
  probe(errors, `${path}.startupProbe`, at(one, "startupProbe"), true)
  ports(errors, `${path}.ports`, arrayAt(one, "ports"))
  environment(errors, `${path}.env`, arrayAt(one, "env"))
  environmentFrom(errors, `${path}.envFrom`, arrayAt(one, "envFrom"))
  volumes.mounts(errors, `${path}.volumeMounts`, one, known)
  const pull = textAt(one, "imagePullPolicy")
  if (pull === "") errors.push(required(`${path}.imagePullPolicy`))
  else if (!pullPolicies.includes(pull)) errors.push(notSupported(`${path}.imagePullPolicy`, pull, pullPolicies))
  resources.requirements(errors, `${path}.resources`, at(one, "resources"))
}

/** Two containers of a pod cannot have the same port of the host. */
const hostPorts = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  const taken = new Set<string>()
  for (const [index, one] of list.entries()) {
    for (const [position, port] of arrayAt(one, "ports").entries()) {
      const number = numberAt(port, "hostPort")
      if (number === 0) continue
      const text = `${textAt(port, "protocol")}/${textAt(port, "hostIP")}/${number}`
      if (taken.has(text)) errors.push(duplicate(`${field}[${index}].ports[${position}].hostPort`, text))
      taken.add(text)
    }
  }
}

const ports = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  const taken = new Set<string>()
  for (const [index, port] of list.entries()) {
    const path = `${field}[${index}]`
    const name = textAt(port, "name")
    if (name !== "") {
      const wrong = formats.portName(name)
      pushAll(errors, `${path}.name`, name, wrong)
      if (wrong.length === 0 && taken.has(name)) errors.push(duplicate(`${path}.name`, name))
      taken.add(name)
    }
    const number = numberAt(port, "containerPort")
    if (number === 0) errors.push(required(`${path}.containerPort`))
    else pushAll(errors, `${path}.containerPort`, number, formats.portNumber(number))
    const host = numberAt(port, "hostPort")
    if (host !== 0) pushAll(errors, `${path}.hostPort`, host, formats.portNumber(host))
    const protocol = textAt(port, "protocol")
    if (protocol === "") errors.push(required(`${path}.protocol`))
    else if (!protocols.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, protocols))
  }
}

const environment = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, variable] of list.entries()) {
    const path = `${field}[${index}]`
    const name = textAt(variable, "name")
    if (name === "") errors.push(required(`${path}.name`))
    else pushAll(errors, `${path}.name`, name, formats.environmentName(name))
    const source = at(variable, "valueFrom")
    if (isObject(source)) valueFrom(errors, `${path}.valueFrom`, source, textAt(variable, "value"))
  }
}

const keySources = ["configMapKeyRef", "secretKeyRef"]
const sources = ["fieldRef", "resourceFieldRef", ...keySources]

const valueFrom = (errors: Errors, path: string, source: JsonObject, value: string): void => {
  const given = sources.filter((key) => isObject(get(source, key)))
  if (given.includes("fieldRef") && textAt(source, "fieldRef", "fieldPath") === "") {
    errors.push(required(`${path}.fieldRef.fieldPath`))
  }
  for (const key of given.filter((one) => keySources.includes(one))) {
    if (textAt(source, key, "name") === "") errors.push(required(`${path}.${key}.name`))
    const member = textAt(source, key, "key")
    if (member === "") errors.push(required(`${path}.${key}.key`))
    else pushAll(errors, `${path}.${key}.key`, member, formats.dataKey(member))
  }
  if (given.length === 0) {
    const detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
    errors.push(invalid(path, "", detail))
  }
  if (value !== "") errors.push(invalid(path, "", "may not be specified when `value` is not empty"))
  else if (given.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"))
}

const environmentFrom = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const prefix = textAt(one, "prefix")
    if (prefix !== "") pushAll(errors, `${path}.prefix`, prefix, formats.environmentName(prefix))
    const given = ["configMapRef", "secretRef"].filter((key) => isObject(at(one, key)))
    for (const key of given) if (textAt(one, key, "name") === "") errors.push(required(`${path}.${key}.name`))
    if (given.length === 0) {
      errors.push(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
    }
    if (given.length > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"))
  }
}

const counters = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]

const probe = (errors: Errors, path: string, value: Json | undefined, once: boolean): void => {
  if (!isObject(value)) return
  handler(errors, path, value)
  for (const key of counters) formats.nonNegative(errors, `${path}.${key}`, get(value, key))
  const successes = numberAt(value, "successThreshold")
  if (once && successes !== 1) errors.push(invalid(`${path}.successThreshold`, successes, "must be 1"))
}

const lifecycle = (errors: Errors, path: string, value: Json | undefined): void => {
  for (const hook of ["postStart", "preStop"]) {
    const found = objectAt(value, hook)
    if (found !== undefined) handler(errors, `${path}.${hook}`, found)
  }
}

const handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"]

/** How a container is asked or told something: exactly one way. */
const handler = (errors: Errors, path: string, value: JsonObject): void => {
  const given = handlers.filter((key) => isObject(get(value, key)))
  for (const [index, key] of given.entries()) {
    const own = `${path}.${key}`
    if (index > 0) {
      errors.push(forbidden(own, "may not specify more than 1 handler type"))
      continue
    }
    const found = objectAt(value, key) ?? {}
    if (key === "exec" && arrayAt(found, "command").length === 0) errors.push(required(`${own}.command`))
    if (key === "httpGet") httpGet(errors, own, found)
    if (key === "tcpSocket" || key === "grpc") formats.port(errors, `${own}.port`, get(found, "port"))
  }
  if (given.length === 0) errors.push(required(path, "must specify a handler type"))
}

const httpGet = (errors: Errors, path: string, value: JsonObject): void => {
  if (textAt(value, "path") === "") errors.push(required(`${path}.path`))
  formats.port(errors, `${path}.port`, get(value, "port"))
  const scheme = textAt(value, "scheme")
  if (scheme !== "HTTP" && scheme !== "HTTPS") {
    errors.push(notSupported(`${path}.scheme`, scheme, ["HTTP", "HTTPS"]))
  }
}
