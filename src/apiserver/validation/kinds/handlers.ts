/** Probes and lifecycle hooks, each with exactly one handler. Source: pkg/apis/core/validation: validateHandler, validateProbe. */
import { arrayAt, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { forbidden, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"

const counters = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]

export type ProbeName = "livenessProbe" | "readinessProbe" | "startupProbe"

export const probe = (errors: Errors, path: string, name: ProbeName, value: Json | undefined): void => {
  if (!isObject(value)) return
  handler(errors, path, value)
  for (const key of counters) formats.nonNegative(errors, `${path}.${key}`, get(value, key))
  const grace = get(value, "terminationGracePeriodSeconds")
  const own = `${path}.terminationGracePeriodSeconds`
  if (name === "readinessProbe") {
    if (grace !== undefined) errors.push(invalid(own, grace, "must not be set for readinessProbes"))
    return
  }
  if (typeof grace === "number" && grace <= 0) errors.push(invalid(own, grace, "must be greater than 0"))
  const successes = numberAt(value, "successThreshold")
  if (successes !== 1) errors.push(invalid(`${path}.successThreshold`, successes, "must be 1"))
}

/** `grace` is terminationGracePeriodSeconds of the pod, where it is known. */
export const lifecycle = (errors: Errors, path: string, value: Json | undefined, grace: Json | undefined): void => {
  for (const hook of ["postStart", "preStop"]) {
    const found = objectAt(value, hook)
    if (found === undefined) continue
    handler(errors, `${path}.${hook}`, found)
    const seconds = numberAt(found, "sleep", "seconds")
    if (typeof grace !== "number" || (seconds >= 0 && seconds <= grace)) continue
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`
    errors.push(invalid(`${path}.${hook}.sleep`, seconds, detail))
  }
}

const handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"]

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
  for (const header of arrayAt(value, "httpHeaders")) {
    // The field path has no index, as in kube-apiserver.
    const name = textAt(header, "name")
    pushAll(errors, `${path}.httpHeaders`, name, formats.headerName(name))
  }
}
