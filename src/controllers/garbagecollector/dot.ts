/**
 * Renders the graph in the DOT language. Pure and bounded: in a large cluster the objects that deletions wait for come
 * first. Source: pkg/controller/garbagecollector: NewDebugHandler; Graphviz: DOT.
 */
import type { Graph, Node } from "./graph.ts"
import type { Uid } from "./identity.ts"

/** Maximum number of objects. */
export const limit = 2000

/** All of the graph, or the objects that are connected with these uids. */
export const render = (graph: Graph, uids: ReadonlyArray<Uid> = []): string => {
  const all = uids.length === 0 ? Array.from(graph.nodes()) : connected(graph, uids)
  const shown = [...all].sort((a, b) => urgency(b) - urgency(a)).slice(0, limit)
  const present = new Set(shown.map(({ identity }) => identity.uid))
  const edges = shown.flatMap(({ identity, owners }) =>
    owners
      .filter(({ uid }) => present.has(uid))
      .map(
        (owner) =>
          `  ${quoted(identity.uid)} -> ${quoted(owner.uid)}${owner.blockOwnerDeletion === true ? " [style=bold]" : ""};`
      )
  )
  const left = all.length - shown.length
  return [
    "strict digraph owners {",
    ...(left === 0 ? [] : [`  // ${left} more objects are not shown`]),
    ...shown.map(definition),
    ...edges,
    "}",
    ""
  ].join("\n")
}

/** Higher for objects that explain why a deletion does not finish. */
const urgency = ({ beingDeleted, observed, waitsFor }: Node): number =>
  (waitsFor === undefined ? 0 : 4) + (observed === undefined ? 2 : 0) + (beingDeleted ? 1 : 0)

const connected = (graph: Graph, uids: ReadonlyArray<Uid>): ReadonlyArray<Node> => {
  const found = new Map<Uid, Node>()
  const next = [...uids]
  for (let uid = next.pop(); uid !== undefined && found.size <= limit; uid = next.pop()) {
    const node = graph.get(uid)
    if (node === undefined || found.has(uid)) continue
    found.set(uid, node)
    for (const owner of node.owners) next.push(owner.uid)
    for (const dependent of graph.dependents(uid)) next.push(dependent.identity.uid)
  }
  return Array.from(found.values())
}

const definition = ({ beingDeleted, identity, observed, waitsFor }: Node): string => {
  const { apiVersion, kind, name, namespace, uid } = identity
  const facts = [
    ...(observed === undefined ? ["not observed"] : []),
    ...(beingDeleted ? ["being deleted"] : []),
    ...(waitsFor === undefined
      ? []
      : [waitsFor === "dependents" ? "waits for its dependents" : "orphans its dependents"])
  ]
  const label = [`${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`, apiVersion, ...facts].join("\n")
  return `  ${quoted(uid)} [label=${quoted(label)}${observed === undefined ? " style=dashed" : ""}];`
}

/** Quotes a text from the server or a user for DOT. */
const quoted = (text: string): string =>
  `"${text
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`)}"`
