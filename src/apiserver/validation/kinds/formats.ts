/**
 * Formats of values in specs: ports, addresses, environment variable names, percentages, label selectors, times. Each check
 * returns upstream's messages, or none. Source: apimachinery, util/validation.
 */
import * as Ip from "../../../kube/ip.ts"
import { arrayAt, get, isObject, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { forbidden, intOrString, invalid, labelSelector as printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"

const nothing: ReadonlyArray<string> = []

const dns1123Label = { nameRule: "label" } as const
const dns1123Subdomain = { nameRule: "subdomain" } as const

export const dnsLabel = (text: string): ReadonlyArray<string> => names.objectName(dns1123Label, text)
export const dnsSubdomain = (text: string): ReadonlyArray<string> => names.objectName(dns1123Subdomain, text)

const isInteger = (value: Json | undefined): value is number => typeof value === "number" && Number.isInteger(value)

export const portNumber = (value: Json | undefined): ReadonlyArray<string> =>
  isInteger(value) && value >= 1 && value <= 65_535 ? nothing : ["must be between 1 and 65535, inclusive"]

export const portName = (text: string): ReadonlyArray<string> => [
  ...(text.length > 15 ? ["must be no more than 15 characters"] : nothing),
  ...(/^[-a-z0-9]+$/.test(text) ? nothing : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
  ...(/[a-z]/.test(text) ? nothing : ["must contain at least one letter or number (a-z, 0-9)"]),
  ...(text.includes("--") ? ["must not contain consecutive hyphens"] : nothing),
  ...(/^-|-$/.test(text) ? ["must not begin or end with a hyphen"] : nothing)
]

/** A port by number or name. */
export const port = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value === "string") pushAll(errors, field, value, portName(value))
  else pushAll(errors, field, value ?? 0, portNumber(value))
}

export const environmentName = (text: string): ReadonlyArray<string> =>
  /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(text)
    ? nothing
    : [
        "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
      ]

/** Keys of ConfigMaps and Secrets. */
export const dataKey = (text: string): ReadonlyArray<string> => {
  if (text.length > 253) return ["must be no more than 253 characters"]
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) {
    return [
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
    ]
  }
  if (text === "." || text === "..") return [`must not be '${text}'`]
  return text.startsWith("..") ? ["must not start with '..'"] : nothing
}

export const ip = (text: string): ReadonlyArray<string> =>
  Ip.isIP(text) ? nothing : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]

export const noCidr = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"

const wildcard = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** A wildcard domain, `*.example.com`. */
export const wildcardDomain = (text: string): ReadonlyArray<string> => [
  ...(text.length > 253 ? ["must be no more than 253 characters"] : nothing),
  ...(wildcard.test(text)
    ? nothing
    : [
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
      ])
]

/** Names of headers in HTTP requests. */
export const headerName = (text: string): ReadonlyArray<string> =>
  /^[-A-Za-z0-9]+$/.test(text)
    ? nothing
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
      ]

export const nonNegative = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value === "number" && value < 0) errors.push(invalid(field, value, "must be greater than or equal to 0"))
}

/** The number of a percentage; undefined for any other value. */
export const percentage = (value: Json | undefined): number | undefined => {
  const found = typeof value === "string" ? /^([0-9]+)%$/.exec(value)?.[1] : undefined
  return found === undefined ? undefined : Number(found)
}

/** A non-negative integer, or a percentage. */
export const intOrPercent = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value === "number") nonNegative(errors, field, value)
  else if (typeof value === "string" && percentage(value) === undefined) {
    errors.push(
      invalid(
        field,
        intOrString(value),
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
      )
    )
  }
}

export const atMost100Percent = (errors: Errors, field: string, value: Json | undefined): void => {
  if ((percentage(value) ?? 0) > 100) errors.push(invalid(field, intOrString(value), "must not be greater than 100%"))
}

export const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === 0 || value === "" || percentage(value) === 0

/** Labels outside the metadata of the object: in templates, selectors and node selectors. */
export const labels = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    const text = get(value, key)
    pushAll(errors, field, key, names.qualified(key))
    if (typeof text === "string") pushAll(errors, field, text, names.label(text))
  }
}

export const annotations = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  for (const key of Object.keys(value)) pushAll(errors, field, key, names.qualified(key.toLowerCase()))
}

const needsValues = new Set(["In", "NotIn"])
const takesNone = new Set(["Exists", "DoesNotExist"])

/** `matchLabels` and `matchExpressions`. */
export const labelSelector = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  labels(errors, `${field}.matchLabels`, get(value, "matchLabels"))
  for (const [index, one] of arrayAt(value, "matchExpressions").entries()) {
    const path = `${field}.matchExpressions[${index}]`
    const operator = textAt(one, "operator")
    const values = arrayAt(one, "values").length
    if (needsValues.has(operator) && values === 0) {
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if (takesNone.has(operator) && values > 0) {
      errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    } else if (!needsValues.has(operator) && !takesNone.has(operator)) {
      errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"))
    }
    const key = textAt(one, "key")
    pushAll(errors, `${path}.key`, key, names.qualified(key))
  }
}

export const isEmptySelector = (value: Json | undefined): boolean =>
  !isObject(value) ||
  (arrayAt(value, "matchExpressions").length === 0 && Object.keys(get(value, "matchLabels") ?? {}).length === 0)

/** Whether all operators of a selector are known and have the values that they need. */
const isEvaluable = (selector: JsonObject): boolean => {
  const errors: Errors = []
  labelSelector(errors, "", selector)
  return errors.length === 0
}

/** Whether a selector matches the labels: an absent one matches nothing, an empty one everything. Undefined for an invalid one. */
export const selects = (selector: Json | undefined, target: Json | undefined): boolean | undefined => {
  if (!isObject(selector)) return false
  if (!isEvaluable(selector)) return undefined
  const own = isObject(target) ? target : {}
  const wanted = get(selector, "matchLabels")
  if (isObject(wanted) && !Object.keys(wanted).every((key) => get(own, key) === wanted[key])) return false
  return arrayAt(selector, "matchExpressions").every((one) => {
    const value = get(own, textAt(one, "key"))
    switch (textAt(one, "operator")) {
      case "In":
        return value !== undefined && arrayAt(one, "values").includes(value)
      case "NotIn":
        return value === undefined || !arrayAt(one, "values").includes(value)
      case "Exists":
        return value !== undefined
      default:
        return value === undefined
    }
  })
}

/** A selector that is required and must not be empty. */
export const selectorOf = (errors: Errors, field: string, value: Json | undefined, owner: string): void => {
  if (value === undefined) {
    errors.push(required(field))
    return
  }
  labelSelector(errors, field, value)
  if (isEmptySelector(value)) errors.push(invalid(field, printed(value), `empty selector is invalid for ${owner}`))
}
