/**
 * Subresources that connect to a process or a port: exec, attach, portforward and proxy. Containers here are simulated and have neither, so every
 * connection is refused with a Status that says why and what there is instead. It comes before any upgrade of the connection, so that clients
 * print its message. Source: pkg/registry/core/pod/rest: ExecREST, AttachREST, PortForwardREST, ProxyREST.
 */
import type * as Effect from "effect/Effect"
import * as StatusError from "../../StatusError.ts"
import type { Target } from "../../routing.ts"
import type { JsonObject } from "../../json.ts"
import type { GroupVersionKind, RequestScope } from "../../admission/Admission.ts"
import { isTrue } from "../listOptions.ts"
import * as attributes from "../../authorization/attributes.ts"
import * as Authorizer from "../../authorization/Authorizer.ts"
import * as read from "../read.ts"

const methods: Readonly<Record<string, ReadonlyArray<string>>> = {
  exec: ["GET", "POST"],
  attach: ["GET", "POST"],
  portforward: ["GET", "POST"],
  proxy: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
}

const reasons: Readonly<Record<string, string>> = {
  exec: 'the containers of this cluster are simulated and have no processes, so no command can run in them (nor can "kubectl cp", which runs tar). "kubectl logs" prints what they write, and annotations of the pod decide what they do: see docs/embedded-cluster.md',
  attach:
    'the containers of this cluster are simulated and have no processes to attach to. "kubectl logs -f" follows what they write, and the annotation simulation/logs decides what that is: see docs/embedded-cluster.md',
  portforward:
    "the containers of this cluster are simulated and listen on no port, so nothing can be forwarded to them. Use a cluster with real nodes for traffic: see docs/embedded-cluster.md",
  proxy:
    "the nodes and containers of this cluster are simulated and serve no HTTP, so nothing can be proxied to them. Use a cluster with real nodes for traffic: see docs/embedded-cluster.md"
}

export const connect = (context: RequestScope, target: Target): Effect.Effect<never, StatusError.StatusError> => {
  if (methods[target.subresource]?.includes(context.request.method) !== true) return StatusError.methodNotAllowed()
  const admitted = context.state.admission.connect({ context, target, ...optionsOf(context, target) })
  return StatusError.after(admitted, () => refused(context, target))
}

const optionKinds: Readonly<Record<string, string>> = {
  exec: "PodExecOptions",
  attach: "PodAttachOptions",
  portforward: "PodPortForwardOptions"
}

/** The options of a connection, which admission gets as the object. They are in the query, and for a proxy in the path. */
const optionsOf = (
  { request: { path, query } }: RequestScope,
  { resource, subresource }: Target
): { readonly object: JsonObject; readonly as: GroupVersionKind } => {
  const kind = optionKinds[subresource] ?? `${resource.kind}ProxyOptions`
  const object: JsonObject = {}
  for (const key of ["stdin", "stdout", "stderr", "tty"]) if (isTrue(query.get(key))) object[key] = true
  const container = query.get("container") ?? ""
  if (container !== "") object["container"] = container
  if (subresource === "exec") object["command"] = query.getAll("command")
  const ports = query.getAll("ports").map(Number).filter(Number.isInteger)
  if (subresource === "portforward" && ports.length > 0) object["ports"] = ports
  const proxied = subresource === "proxy" ? (proxyPath.exec(path)?.[1] ?? "") : ""
  return { object: proxied === "" ? object : { path: proxied }, as: { group: "", version: "v1", kind } }
}

const proxyPath = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+\/proxy(\/.*)$/s

const refused = (context: RequestScope, target: Target): StatusError.StatusError => {
  const { resource, subresource } = target
  const name = subresource === "proxy" ? nameIn(target.name) : target.name
  const found = read.find(context, { ...target, name })
  if (StatusError.isRefusal(found)) return found
  return refuseUpgrade(context, subresource) ?? StatusError.notImplemented(reasons[subresource] ?? "", resource, name)
}

/** The object of a proxy path: `name`, `name:port` or `scheme:name:port`. */
const nameIn = (text: string): string => {
  const [first = "", second, third] = text.split(":")
  return third === undefined || second === undefined ? first : second
}

/**
 * A WebSocket is opened with GET, but needs the right to create, as other connections do. Source: AuthorizePodWebsocketUpgradeCreatePermission, on by
 * default since 1.35.
 */
const refuseUpgrade = (context: RequestScope, subresource: string): StatusError.StatusError | undefined => {
  const { headers, method } = context.request
  if (subresource === "proxy" || method !== "GET" || headers["upgrade"]?.toLowerCase() !== "websocket") return undefined
  return Authorizer.refuse(context, { ...attributes.of(context.request), verb: "create" })
}
