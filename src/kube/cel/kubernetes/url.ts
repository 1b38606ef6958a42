/** URLs, as Go reads them: absolute, or an absolute path. Source: apiserver pkg/cel/library/urls.go, Go net/url. */
import * as Type from "../Type.ts"
import { Entries, Failure, Items, Opaque } from "../Value.ts"
import type { Outcome } from "../Value.ts"
import { fn, method } from "../library/define.ts"
import type { Definition } from "../library/define.ts"

interface Parts {
  readonly scheme: string
  /** With its slashes. */
  readonly authority: string
  readonly host: string
  readonly path: string
  /** What follows a scheme without a slash: `mailto:a@b`. */
  readonly opaque: string
  /** With its question mark. */
  readonly query: string
  /** With its `#`. */
  readonly fragment: string
}

class Url extends Opaque {
  readonly typeName = "kubernetes.URL"
  readonly parts: Parts

  constructor(parts: Parts) {
    super()
    this.parts = parts
  }

  equals(other: Opaque): boolean {
    return other instanceof Url && written(this.parts) === written(other.parts)
  }
}

const invalid = (text: string, why: string): Failure =>
  new Failure(`parse ${JSON.stringify(text.slice(0, 128))}: ${why}`)

/** What Go's ParseRequestURI says, which takes `#` for a part of the path; undefined for a valid text. */
export const problemOf = (text: string): string | undefined => {
  const read = parse(text)
  return read instanceof Failure ? read.message : undefined
}

/** A scheme, and what follows it. */
const schemeOf = (text: string): readonly [string, string] => {
  const scheme = /^([A-Za-z][\d+.A-Za-z-]*):/.exec(text)?.[1]
  return scheme === undefined ? ["", text] : [scheme, text.slice(scheme.length + 1)]
}

/** Without a fragment, the text is that of a request, where two slashes alone begin a path. */
const parse = (text: string, fragment?: string): Failure | Parts => {
  if (text === "") return invalid(text, "empty url")
  // oxlint-disable-next-line no-control-regex -- these characters are what Go refuses
  if (/[\u0000-\u001F\u007F]/.test(text)) return invalid(text, "net/url: invalid control character in URL")
  if (text.startsWith(":")) return invalid(text, "missing protocol scheme")
  const [scheme, rest] = schemeOf(text)
  const mark = rest.indexOf("?")
  const before = mark === -1 ? rest : rest.slice(0, mark)
  const query = mark === -1 ? "" : rest.slice(mark)
  const known = { scheme: scheme.toLowerCase(), query, fragment: fragment ?? "", opaque: "", authority: "", host: "" }
  if (text === "*") return { ...known, path: "*" }
  if (!before.startsWith("/")) {
    return scheme === "" ? invalid(text, "invalid URI for request") : { ...known, opaque: before, path: "" }
  }
  const hasAuthority =
    before.startsWith("//") && (scheme !== "" || (fragment !== undefined && !before.startsWith("///")))
  const [, authority = "", path = ""] = hasAuthority ? (/^\/\/([^/]*)(.*)$/s.exec(before) ?? []) : ["", "", before]
  const host = authority.slice(authority.lastIndexOf("@") + 1)
  const user = authority.slice(0, Math.max(0, authority.lastIndexOf("@")))
  const wrong = problemOfUser(user) ?? problemOfHost(host) ?? problemOfEscape(path)
  return wrong === undefined
    ? { ...known, authority: hasAuthority ? `//${authority}` : "", host, path }
    : invalid(text, wrong)
}

/** A fragment is cut off only from a text that is valid with it. */
const toUrl = (text: string): Outcome => {
  const problem = problemOf(text)
  const hash = text.indexOf("#")
  const parts = hash === -1 ? parse(text, "") : parse(text.slice(0, hash), text.slice(hash))
  if (problem === undefined && !(parts instanceof Failure)) return new Url(parts)
  return new Failure(
    `URL parse error during conversion from string: ${problem ?? (parts instanceof Failure ? parts.message : "")}`
  )
}

const problemOfUser = (user: string): string | undefined =>
  /^[\w!$%&'()*+,.:;=@~-]*$/.test(user) ? problemOfEscape(user) : "net/url: invalid userinfo"

const isEscaped = (text: string): boolean => !/%(?![\dA-Fa-f]{2})/.test(text)

const problemOfEscape = (text: string): string | undefined => {
  const malformed = /%(?![\dA-Fa-f]{2}).{0,2}/s.exec(text)?.[0]
  return malformed === undefined ? undefined : `invalid URL escape ${JSON.stringify(malformed)}`
}

const problemOfHost = (host: string): string | undefined => {
  const port = host.startsWith("[") ? host.slice(host.lastIndexOf("]") + 1) : host.replace(/^[^:]*/, "")
  if (host.startsWith("[") && !host.includes("]")) return "missing ']' in host"
  if (!/^(?::\d*)?$/.test(port)) return `invalid port ${JSON.stringify(port.slice(0, 32))} after host`
  const character = /[ #\\^`{|}]/.exec(host)?.[0]
  if (character !== undefined) return `invalid character ${JSON.stringify(character)} in host name`
  // Only letters outside of ASCII are escaped in a host.
  const escaped = /%(?!25)[0-7][\dA-Fa-f]/.exec(host)?.[0]
  return escaped === undefined ? problemOfEscape(host) : `invalid URL escape ${JSON.stringify(escaped)}`
}

/** Texts without a valid escape are not unescaped. */
const unescape = (text: string): string | undefined => {
  if (!isEscaped(text)) return undefined
  const octets = new TextEncoder().encode(text)
  const plain: Array<number> = []
  for (let index = 0; index < octets.length; index += 1) {
    const octet = octets[index] ?? 0
    if (octet === 37) {
      plain.push(Number.parseInt(String.fromCharCode(octets[index + 1] ?? 0, octets[index + 2] ?? 0), 16))
      index += 2
    } else plain.push(octet === 43 ? 32 : octet)
  }
  return new TextDecoder().decode(Uint8Array.from(plain))
}

const escapedPath = (path: string): string => {
  // A path whose characters are all allowed is kept as it is written.
  if (/^(?:[\w!$&'()*+,./:;=@[\]~-]|%[\dA-Fa-f]{2})*$/.test(path)) return path
  const plain = unescape(path.replaceAll("+", "%2B")) ?? path
  return Array.from(new TextEncoder().encode(plain), (octet) => {
    const character = String.fromCharCode(octet)
    return /[\w$&+,./:;=@~-]/.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, "0")}`
  }).join("")
}

/** As Go writes a URL again. */
const written = ({ authority, fragment, opaque, path, query: asked, scheme }: Parts): string =>
  `${scheme}:${opaque}${authority}${escapedPath(path)}${asked}${fragment}`

const query = (text: string): Outcome => {
  const values = new Map<string, Array<string>>()
  for (const pair of text.split("&")) {
    if (pair === "" || pair.includes(";")) continue
    const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? []
    const key = unescape(name)
    const plain = unescape(value)
    if (key === undefined || plain === undefined) continue
    const list = values.get(key)
    if (list === undefined) values.set(key, [plain])
    else list.push(plain)
  }
  return Entries.of([...values].map(([key, list]) => [key, new Items(list)] as const))
}

const hostname = (host: string): string =>
  host.startsWith("[") ? host.slice(1, host.indexOf("]")) : host.replace(/:\d*$/, "")

const urlType = Type.opaque("kubernetes.URL")
const { bool, string } = Type

const part = (name: string, id: string, read: (parts: Parts) => Outcome, type = string): Definition =>
  method(name, id, [urlType], type, ({ parts }: Url) => read(parts))

export const urls: ReadonlyArray<Definition> = [
  fn("url", "string_to_url", [string], urlType, toUrl),
  fn("isURL", "is_url_string", [string], bool, (text: string) => problemOf(text) === undefined),
  part("getScheme", "url_get_scheme", ({ scheme }) => scheme),
  part("getHost", "url_get_host", ({ host }) => host),
  part("getHostname", "url_get_hostname", ({ host }) => hostname(host)),
  part("getPort", "url_get_port", ({ host }) => /:(\d*)$/.exec(host.replace(/^.*\]/, ""))?.[1] ?? ""),
  part("getEscapedPath", "url_get_escaped_path", ({ path }) => escapedPath(path)),
  part("getQuery", "url_get_query", (parts) => query(parts.query.slice(1)), Type.map(string, Type.list(string)))
]
