/**
 * Client configuration of admission and conversion webhooks: URL or service, and the supported review versions. Source:
 * apiserver, util/webhook: ValidateWebhookURL, ValidateWebhookService.
 */
import { get, objectAt, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as names from "../names.ts"
import { invalid, pushAll, required, stringList } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"

export const client = (errors: Errors, field: string, config: JsonObject): void => {
  const url = get(config, "url")
  const service = objectAt(config, "service")
  if ((url === undefined) === (service === undefined)) {
    errors.push(required(field, "exactly one of url or service is required"))
  } else if (service === undefined) address(errors, `${field}.url`, textAt(config, "url"))
  else reference(errors, `${field}.service`, service)
}

const form = "; desired format: https://host[/path]"

/** Scheme, authority, path, query and fragment, by the regular expression of RFC 3986, appendix B. */
const parts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s

const badEscape = /%(?![0-9A-Fa-f]{2}).{0,2}/s

const address = (errors: Errors, field: string, url: string): void => {
  const broken = badEscape.exec(url)?.[0]
  if (broken !== undefined) {
    const why = `parse ${JSON.stringify(url)}: invalid URL escape ${JSON.stringify(broken)}`
    errors.push(required(field, `url must be a valid URL: ${why}${form}`))
    return
  }
  const [, scheme = "", authority = "", , query = "", fragment = ""] = parts.exec(url) ?? []
  const end = authority.lastIndexOf("@")
  if (scheme.toLowerCase() !== "https") {
    errors.push(invalid(field, scheme, `'https' is the only allowed URL scheme${form}`))
  }
  if (authority.length === end + 1) errors.push(invalid(field, "", `host must be provided${form}`))
  if (end !== -1) {
    errors.push(invalid(field, authority.slice(0, end), "user information is not permitted in the URL"))
  }
  if (fragment !== "") errors.push(invalid(field, fragment, "fragments are not permitted in the URL"))
  if (query !== "") errors.push(invalid(field, query, "query parameters are not permitted in the URL"))
}

const reference = (errors: Errors, field: string, service: JsonObject): void => {
  if (textAt(service, "name") === "") errors.push(required(`${field}.name`, "service name is required"))
  if (textAt(service, "namespace") === "") errors.push(required(`${field}.namespace`, "service namespace is required"))
  const port = get(service, "port")
  for (const detail of port === undefined ? [] : formats.portNumber(port)) {
    errors.push(invalid(`${field}.port`, port, `port is not valid: ${detail}`))
  }
  path(errors, `${field}.path`, textAt(service, "path"))
}

const path = (errors: Errors, field: string, text: string): void => {
  if (text === "" || text === "/") return
  if (text === "//") {
    errors.push(invalid(field, text, "segment[0] may not be empty"))
    return
  }
  if (!text.startsWith("/")) errors.push(invalid(field, text, "must start with a '/'"))
  const segments = text.slice(1).replace(/\/$/, "").split("/")
  for (const [index, segment] of segments.entries()) {
    if (segment === "") errors.push(invalid(field, text, `segment[${index}] may not be empty`))
    else
      pushAll(
        errors,
        field,
        text,
        formats.dnsSubdomain(segment).map((why) => `segment[${index}]: ${why}`)
      )
  }
}

/** The review versions that the server supports. */
export const known = ["v1", "v1beta1"] as const

/** The supported review versions of a webhook; the caller reports an empty list. */
export const reviewVersions = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  const seen = new Set<Json>()
  for (const [index, version] of list.entries()) {
    const at = `${field}[${index}]`
    const text = typeof version === "string" ? version : ""
    if (seen.has(version)) errors.push(invalid(at, version, "duplicate version"))
    else pushAll(errors, at, version, names.objectName({ nameRule: "service" }, text))
    seen.add(version)
  }
  if (!known.some((one) => seen.has(one))) {
    errors.push(invalid(field, stringList([...list]), `must include at least one of ${known.join(", ")}`))
  }
}
