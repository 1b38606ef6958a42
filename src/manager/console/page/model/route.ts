/** The view that the address names: `#/controllers`, `#/objects/<resource>/<namespace>/<name>`, `#/objects?q=<text>`. */

import type { Controller } from "../../protocol.ts"

export const views = ["controllers", "objects", "queue", "informers", "leadership", "cluster"] as const

export type View = (typeof views)[number]

export interface Route {
  readonly view: View
  /** Resource and names of an object. */
  readonly path: ReadonlyArray<string>
  readonly query: string
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const parseRoute = (hash: string): Route => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2)
  const [first, ...rest] = path.split("/").map(decode)
  const view = views.find((view) => view === first) ?? "controllers"
  return { view, path: rest.filter((part) => part !== ""), query: new URLSearchParams(query).get("q") ?? "" }
}

export const hrefOf = (view: View): string => `#/${view}`

export const hrefOfSearch = (query: string): string => `#/objects?q=${encodeURIComponent(query)}`

/** The path of an object below `objects/`, in the page's addresses and in the server's. */
export const objectPath = (resource: string, key: string): string =>
  [resource, ...key.split("/")].map(encodeURIComponent).join("/")

export const hrefOfObject = (resource: string, key: string): string => `#/objects/${objectPath(resource, key)}`

/** The object that a key of the controller names; what a search for the key finds if the controller's keys name no kind. */
export const hrefOfKey = ({ resource }: Pick<Controller, "resource">, key: string): string =>
  resource === undefined ? hrefOfSearch(key) : hrefOfObject(resource, key)

/** The token of `#token=…`, which is removed from the address bar and from the history of the browser. */
export const takeToken = (): string | undefined => {
  const match = /^#token=([^&]+)/.exec(location.hash)
  if (match === null) return undefined
  history.replaceState(null, "", `${location.pathname}${hrefOf("controllers")}`)
  return decode(match[1] ?? "")
}
