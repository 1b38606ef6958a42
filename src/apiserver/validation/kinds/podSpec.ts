/**
 * PodSpec, in a Pod or a pod template. Source: pkg/apis/core/validation: ValidatePodSpec, in its order. Of the affinity, only what a
 * scheduler needs is validated.
 */
import { arrayAt, at, get, isObject, numberAt, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { containers } from "./containers.ts"
import type { PodContext } from "./containers.ts"
import { ephemeralContainers } from "./ephemeralContainers.ts"
import { duplicate, forbidden, invalid, notSupported, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { podSecurityContext } from "./securityContexts.ts"
import { claimSpec } from "./claims.ts"
import type { Volumes } from "./mounts.ts"
import { source } from "./volumeSources.ts"

const restartPolicies = ["Always", "OnFailure", "Never"]
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]

export const podSpec = (errors: Errors, field: string, spec: JsonObject): void => {
  const podContext: PodContext = {
    volumes: volumes(errors, `${field}.volumes`, arrayAt(spec, "volumes")),
    grace: get(spec, "terminationGracePeriodSeconds")
  }
  const main = arrayAt(spec, "containers")
  if (main.length === 0) errors.push(required(`${field}.containers`))
  containers(errors, `${field}.containers`, main, podContext)
  initContainers(errors, `${field}.initContainers`, arrayAt(spec, "initContainers"), main, podContext)
  ephemeralContainers(errors, `${field}.ephemeralContainers`, spec, podContext)
  choice(errors, `${field}.restartPolicy`, textAt(spec, "restartPolicy"), restartPolicies)
  choice(errors, `${field}.dnsPolicy`, textAt(spec, "dnsPolicy"), dnsPolicies)
  formats.labels(errors, `${field}.nodeSelector`, get(spec, "nodeSelector"))
  hostNetwork(errors, field, spec, main)
  podSecurityContext(errors, `${field}.securityContext`, spec)
  affinity(errors, `${field}.affinity`, get(spec, "affinity"))
  spread(errors, `${field}.topologySpreadConstraints`, arrayAt(spec, "topologySpreadConstraints"))
  name(errors, `${field}.serviceAccountName`, textAt(spec, "serviceAccountName"), formats.dnsSubdomain)
  name(errors, `${field}.nodeName`, textAt(spec, "nodeName"), formats.dnsSubdomain)
  deadline(errors, `${field}.activeDeadlineSeconds`, get(spec, "activeDeadlineSeconds"))
  name(errors, `${field}.hostname`, textAt(spec, "hostname"), formats.dnsLabel)
  name(errors, `${field}.subdomain`, textAt(spec, "subdomain"), formats.dnsLabel)
  tolerations(errors, `${field}.tolerations`, arrayAt(spec, "tolerations"))
  name(errors, `${field}.priorityClassName`, textAt(spec, "priorityClassName"), formats.dnsSubdomain)
  name(errors, `${field}.runtimeClassName`, textAt(spec, "runtimeClassName"), formats.dnsSubdomain)
}

const choice = (errors: Errors, field: string, value: string, supported: ReadonlyArray<string>): void => {
  if (value === "") errors.push(required(field))
  else if (!supported.includes(value)) errors.push(notSupported(field, value, supported))
}

const name = (errors: Errors, field: string, value: string, check: (text: string) => ReadonlyArray<string>): void => {
  if (value !== "") pushAll(errors, field, value, check(value))
}

const deadline = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value === "number" && (value < 1 || value > 2_147_483_647)) {
    errors.push(invalid(field, value, "must be between 1 and 2147483647, inclusive"))
  }
}

/** The names of init containers and containers are unique together. Init containers run to completion, so they have no probes. */
const initContainers = (
  errors: Errors,
  field: string,
  list: ReadonlyArray<Json>,
  main: ReadonlyArray<Json>,
  podContext: PodContext
): void => {
  if (list.length === 0) return
  containers(errors, field, list, podContext)
  const taken = new Set(main.map((one) => textAt(one, "name")))
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const own = textAt(one, "name")
    if (own !== "" && taken.has(own)) errors.push(duplicate(`${path}.name`, own))
    // An init container with restartPolicy Always is a sidecar, which may have probes.
    if (textAt(one, "restartPolicy") === "Always") continue
    for (const key of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
      const value = at(one, key)
      if (isObject(value))
        errors.push(forbidden(`${path}.${key}`, "may not be set for init containers without restartPolicy=Always"))
    }
  }
}

/** With hostNetwork, each container port is also the host port. */
const hostNetwork = (errors: Errors, field: string, spec: JsonObject, main: ReadonlyArray<Json>): void => {
  if (get(spec, "hostNetwork") !== true) return
  for (const [index, one] of main.entries()) {
    for (const [position, port] of arrayAt(one, "ports").entries()) {
      if (numberAt(port, "hostPort") !== numberAt(port, "containerPort")) {
        errors.push(
          invalid(
            `${field}.containers[${index}].ports[${position}].containerPort`,
            numberAt(port, "containerPort"),
            "must match `hostPort` when `hostNetwork` is true"
          )
        )
      }
    }
  }
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"]

const tolerations = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const key = textAt(one, "key")
    const operator = textAt(one, "operator")
    const effect = textAt(one, "effect")
    if (key !== "") pushAll(errors, `${path}.key`, key, names.qualified(key))
    if (key === "" && operator !== "Exists") {
      errors.push(
        invalid(
          `${path}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        )
      )
    }
    if (at(one, "tolerationSeconds") !== undefined && effect !== "NoExecute") {
      errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    }
    const value = textAt(one, "value")
    if (operator === "Equal" || operator === "") {
      const wrong = names.label(value)
      if (wrong.length > 0) errors.push(invalid(`${path}.operator`, value, wrong.join(";")))
    } else if (operator === "Exists") {
      if (value !== "") {
        errors.push(
          invalid(`${path}.operator`, printedToleration(one), "value must be empty when `operator` is 'Exists'")
        )
      }
    } else errors.push(notSupported(`${path}.operator`, operator, ["Equal", "Exists"]))
    if (effect !== "" && !effects.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, effects))
  }
}

const printedToleration = (one: Json): string => textAt(one, "value")

const spread = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}]`
    const skew = numberAt(one, "maxSkew")
    if (skew <= 0) errors.push(invalid(`${path}.maxSkew`, skew, "must be greater than zero"))
    if (textAt(one, "topologyKey") === "") errors.push(required(`${path}.topologyKey`, "can not be empty"))
    const when = textAt(one, "whenUnsatisfiable")
    const supported = ["DoNotSchedule", "ScheduleAnyway"]
    if (!supported.includes(when)) errors.push(notSupported(`${path}.whenUnsatisfiable`, when, supported))
  }
}

const must = "requiredDuringSchedulingIgnoredDuringExecution"
const should = "preferredDuringSchedulingIgnoredDuringExecution"

const affinity = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  nodeAffinity(errors, `${field}.nodeAffinity`, get(value, "nodeAffinity"))
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const own = get(value, kind)
    for (const [index, term] of arrayAt(own, must).entries()) {
      podTerm(errors, `${field}.${kind}.${must}[${index}]`, term)
    }
    for (const [index, one] of arrayAt(own, should).entries()) {
      const path = `${field}.${kind}.${should}[${index}]`
      weight(errors, path, one)
      podTerm(errors, `${path}.podAffinityTerm`, at(one, "podAffinityTerm"))
    }
  }
}

const weight = (errors: Errors, path: string, one: Json): void => {
  const value = numberAt(one, "weight")
  if (value < 1 || value > 100) errors.push(invalid(`${path}.weight`, value, "must be in the range 1-100"))
}

const podTerm = (errors: Errors, path: string, term: Json | undefined): void => {
  formats.labelSelector(errors, `${path}.labelSelector`, at(term, "labelSelector"))
  const key = textAt(term, "topologyKey")
  if (key === "") errors.push(required(`${path}.topologyKey`, "can not be empty"))
  pushAll(errors, `${path}.topologyKey`, key, names.qualified(key))
}

const nodeAffinity = (errors: Errors, field: string, value: Json | undefined): void => {
  const hard = at(value, must)
  if (isObject(hard)) {
    const terms = arrayAt(hard, "nodeSelectorTerms")
    const path = `${field}.${must}.nodeSelectorTerms`
    if (terms.length === 0) errors.push(required(path, "must have at least one node selector term"))
    for (const [index, term] of terms.entries()) nodeTerm(errors, `${path}[${index}]`, term)
  }
  for (const [index, one] of arrayAt(value, should).entries()) {
    const path = `${field}.${should}[${index}]`
    const given = numberAt(one, "weight")
    if (given <= 0 || given > 100) errors.push(invalid(`${path}.weight`, given, "must be in the range 1-100"))
    nodeTerm(errors, `${path}.preference`, at(one, "preference"))
  }
}

const nodeTerm = (errors: Errors, path: string, term: Json | undefined): void => {
  for (const [index, one] of arrayAt(term, "matchExpressions").entries()) {
    const own = `${path}.matchExpressions[${index}]`
    const values = arrayAt(one, "values").length
    const operator = textAt(one, "operator")
    if ((operator === "In" || operator === "NotIn") && values === 0) {
      errors.push(required(`${own}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if ((operator === "Exists" || operator === "DoesNotExist") && values > 0) {
      errors.push(forbidden(`${own}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    } else if ((operator === "Gt" || operator === "Lt") && values !== 1) {
      errors.push(required(`${own}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    } else if (!["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"].includes(operator)) {
      errors.push(invalid(`${own}.operator`, operator, "not a valid selector operator"))
    }
    const key = textAt(one, "key")
    pushAll(errors, `${own}.key`, key, names.qualified(key))
  }
}

/** Validates the volumes and returns the valid ones, which mounts can refer to. */
const volumes = (errors: Errors, field: string, list: ReadonlyArray<Json>): Volumes => {
  const known = new Map<string, Json>()
  for (const [index, volume] of list.entries()) {
    const path = `${field}[${index}]`
    const before = errors.length
    source(errors, path, volume)
    claimed(errors, `${path}.ephemeral.volumeClaimTemplate`, volume)
    const name = textAt(volume, "name")
    if (name === "") errors.push(required(`${path}.name`))
    else pushAll(errors, `${path}.name`, name, formats.dnsLabel(name))
    if (known.has(name)) errors.push(duplicate(`${path}.name`, name))
    if (errors.length === before) known.set(name, volume)
  }
  return known
}

/** An ephemeral volume, whose claim is created for the pod and deleted with it. */
const claimed = (errors: Errors, field: string, volume: Json): void => {
  const ephemeral = objectAt(volume, "ephemeral")
  if (ephemeral === undefined) return
  const template = get(ephemeral, "volumeClaimTemplate")
  if (template === undefined) errors.push(required(field))
  else claimSpec(errors, `${field}.spec`, objectAt(template, "spec") ?? {})
}
