/**
 * Containers of a Pod or a pod template: names, images, ports, and what other modules validate of them. Source:
 * pkg/apis/core/validation: validateContainers; errors come in its order.
 */
import { arrayAt, at, numberAt, textAt } from "../../json.ts"
import type { Json } from "../../json.ts"
import { environment, environmentFrom } from "./environment.ts"
import { duplicate, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { lifecycle, probe } from "./handlers.ts"
import { devices, mounts } from "./mounts.ts"
import type { Volumes } from "./mounts.ts"
import * as resources from "./resources.ts"
import { securityContext } from "./securityContexts.ts"

const pullPolicies = ["Always", "IfNotPresent", "Never"]
const protocols = ["SCTP", "TCP", "UDP"]

/** Facts about the pod or template that the validation of its containers needs. */
export interface PodContext {
  readonly volumes: Volumes
  /** terminationGracePeriodSeconds of the pod. */
  readonly grace: Json | undefined
}

export const containers = (errors: Errors, field: string, list: ReadonlyArray<Json>, podContext: PodContext): void => {
  const taken = new Set<string>()
  for (const [index, one] of list.entries()) container(errors, `${field}[${index}]`, one, taken, podContext)
  hostPorts(errors, field, list)
}

const container = (errors: Errors, path: string, one: Json, taken: Set<string>, podContext: PodContext): void => {
  const name = textAt(one, "name")
  if (name === "") errors.push(required(`${path}.name`))
  else pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
  if (taken.has(name)) errors.push(duplicate(`${path}.name`, name))
  else taken.add(name)
  if (textAt(one, "image") === "") errors.push(required(`${path}.image`))
  lifecycle(errors, `${path}.lifecycle`, at(one, "lifecycle"), podContext.grace)
  probe(errors, `${path}.livenessProbe`, "livenessProbe", at(one, "livenessProbe"))
  const message = textAt(one, "terminationMessagePolicy")
  if (message !== "File" && message !== "FallbackToLogsOnError") {
    const detail = "must be 'File' or 'FallbackToLogsOnError'"
    errors.push(invalid(`${path}.terminationMessagePolicy`, message, detail))
  }
  probe(errors, `${path}.readinessProbe`, "readinessProbe", at(one, "readinessProbe"))
  probe(errors, `${path}.startupProbe`, "startupProbe", at(one, "startupProbe"))
  ports(errors, `${path}.ports`, arrayAt(one, "ports"))
  environment(errors, `${path}.env`, arrayAt(one, "env"))
  environmentFrom(errors, `${path}.envFrom`, arrayAt(one, "envFrom"))
  mounts(errors, path, one, podContext.volumes)
  devices(errors, path, one, podContext.volumes)
  const pull = textAt(one, "imagePullPolicy")
  if (pull === "") errors.push(required(`${path}.imagePullPolicy`))
  else if (!pullPolicies.includes(pull)) errors.push(notSupported(`${path}.imagePullPolicy`, pull, pullPolicies))
  resources.requirements(errors, `${path}.resources`, at(one, "resources"))
  securityContext(errors, `${path}.securityContext`, at(one, "securityContext"))
}

/** Two containers of a pod cannot use the same host port. */
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
