/**
 * An address to listen on, as Go programs write it: `:8081` is every interface, `127.0.0.1:8081` is one, port 0 is any free port;
 * `0` alone and the empty text mean that the server is off. Pure.
 */
import * as Option from "effect/Option"
import { isIP, isIPv4 } from "../../kube/ip.ts"

export interface Address {
  /** Undefined: every interface. */
  readonly host: string | undefined
  readonly port: number
}

/** None: not an address. `undefined` inside: off. */
export const parse = (text: string): Option.Option<Address | undefined> => {
  if (text === "" || text === "0") return Option.some(undefined)
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) return Option.none()
  return Option.some({ host: match[1] ?? (match[2] || undefined), port })
}

/** True if only processes on this machine, or in this pod, can reach the address. */
export const isLoopback = (host = ""): boolean => /^(localhost$|(::ffff:)?127\.[\d.]+$|(0*:)+0*1$)/i.test(host)

export const format = ({ host, port }: Address): string =>
  `${host?.includes(":") === true ? `[${host}]` : (host ?? "")}:${port}`

/**
 * One way to write a host, so that the hosts of a certificate can be compared with the configured ones: names in lower case, IPv6
 * addresses in their shortest form.
 */
export const canonical = (host: string): string =>
  host.includes(":") && URL.canParse(`http://[${host}]`)
    ? new URL(`http://[${host}]`).hostname.slice(1, -1)
    : host.toLowerCase()

/**
 * Whether the Host header of a request over loopback is acceptable: an address, `localhost`, or the name that the server listens on. Any
 * other name may be one of an attacker that resolves to this machine, so that a page in a browser could read responses (DNS rebinding).
 */
export const isOwnName = (header: string, listensOn: string | undefined): boolean => {
  const [, bracketed, name = bracketed ?? ""] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::\d+)?$/.exec(header) ?? []
  const host = name.toLowerCase().replace(/\.$/, "")
  if (bracketed !== undefined) return isIP(bracketed)
  return isIPv4(host) || host === "localhost" || host.endsWith(".localhost") || (host !== "" && host === listensOn)
}
