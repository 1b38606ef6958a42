/**
 * The mutants of a controller's source: each write, each requeue and each source deleted, each condition forced to both of its values. A mutant
 * changes one range of the text; types are not checked.
 */
import { parseAst } from "rolldown/parseAst"

/** What a controller calls on its client, or as it is returned by `applier(client)`, to change the cluster. */
const writes = new Set(["apply", "applyStatus", "create", "delete", "deleteCollection", "evict", "patch", "update"])

const records = new Set(["normal", "warning"])

const comparisons = new Set(["===", "!==", "==", "!=", "<", "<=", ">", ">="])

/**
 * In the order of the source: `{ class, line, original, replacement, start, end, value, code }`, where `code` is the whole text of the mutant. The mutant
 * behaves as the original does wherever the range from `start` to `end` is not evaluated or has that `value`; undefined where that cannot be said.
 */
export const mutantsOf = (code) => {
  const found = new Map()
  const add = (kind, { end, start }, replacement, value) => {
    const mutant = `${code.slice(0, start)}${replacement}${code.slice(end)}`
    const line = code.slice(0, start).split("\n").length
    const original = shown(code.slice(start, end)).replace(/,$/, "")
    if (found.has(mutant)) return
    found.set(mutant, {
      class: kind,
      line,
      original,
      replacement: replacement === "" ? "nothing" : shown(replacement),
      start,
      end,
      value,
      code: mutant
    })
  }
  const text = ({ end, start }) => code.slice(start, end)
  const force = (node, to) => add("condition", node, String(to), to)

  /** The operands of `a && b && c`: each is left out, and the whole has the value of one that decides. */
  const logical = (node, operator) => {
    const operands = (one) =>
      one.type === "LogicalExpression" && one.operator === operator
        ? [...operands(one.left), ...operands(one.right)]
        : [one]
    for (const one of operands(node)) force(one, operator === "&&")
    force(node, operator !== "&&")
  }

  const visitors = {
    CallExpression(node) {
      if (isWrite(node)) add("write", node, "Effect.void", null)
      const { arguments: args, callee } = node
      if (callee.type !== "MemberExpression") return
      if (nameOf(callee.object) === "Reconcile" && nameOf(callee.property) === "after")
        add("requeue", node, "Reconcile.done", null)
      if (nameOf(callee.property) === "filter" && args.length === 1) {
        for (const to of [true, false]) add("condition", args[0], `() => ${to}`)
        args[0].isPredicate = true
      }
    },
    IfStatement: ({ test }) => both(test),
    ConditionalExpression: ({ test }) => both(test),
    LogicalExpression(node, parent) {
      const { left, operator, right } = node
      if (operator === "??") {
        add("condition", node, text(left))
        add("condition", node, text(right))
      } else if (parent.operator !== operator) logical(node, operator)
    },
    // A comparison that is an operand or a predicate has been forced with it.
    BinaryExpression(node, parent) {
      if (comparisons.has(node.operator) && parent.type !== "LogicalExpression" && parent.isPredicate !== true)
        both(node)
    },
    Property(node) {
      const { key, value } = node
      if (["owns", "watches"].includes(nameOf(key)) && value.type === "ArrayExpression")
        removeEach("source", value.elements)
      // The declaration of a finalizer writes it to each object.
      if (nameOf(key) === "finalizers" && value.type === "ObjectExpression") removeEach("write", value.properties)
    }
  }
  const both = (node) => {
    for (const to of [true, false]) force(node, to)
  }
  const removeEach = (kind, nodes) => {
    for (const { end, start } of nodes) add(kind, { start, end: code[end] === "," ? end + 1 : end }, "")
  }

  const visit = (node, parent) => {
    visitors[node.type]?.(node, parent)
    for (const child of Object.values(node).flat()) {
      if (typeof child === "object" && child !== null && "type" in child) visit(child, node)
    }
  }
  visit(parseAst(code, { lang: "ts" }), {})
  return [...found.values()].toSorted((a, b) => a.start - b.start)
}

/** The source in which the ranges of these mutants report their values to `globalThis.report(name, start, end, value)`, which returns the value. */
export const reporting = (code, mutants, name) => {
  const ranges = [...new Map(mutants.map(({ end, start }) => [`${start}-${end}`, { start, end }])).values()]
  const openings = ranges
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .map(({ end, start }) => ({ at: start, text: `globalThis.report(${JSON.stringify(name)}, ${start}, ${end}, ` }))
  const closings = ranges.map(({ end }) => ({ at: end, text: ")" }))
  let reported = ""
  let from = 0
  for (const { at, text } of [...closings, ...openings].toSorted((a, b) => a.at - b.at)) {
    reported += code.slice(from, at) + text
    from = at
  }
  return reported + code.slice(from)
}

const shown = (source) => source.replaceAll(/\s+/g, " ").trim()

const nameOf = (node) => (node.type === "Identifier" ? node.name : undefined)

/** `apply(…)`, `client.patch(…)`, `client.subresource("status").patch(…)`, `events.normal(…)`. */
const isWrite = (node) => {
  if (node?.type !== "CallExpression") return false
  const { callee } = node
  if (callee.type === "Identifier") return ["apply", "applyStatus"].includes(callee.name)
  if (callee.type !== "MemberExpression") return false
  const name = nameOf(callee.property)
  const root = rootOf(callee.object)
  return (root === "client" && writes.has(name)) || (root === "events" && records.has(name))
}

const rootOf = (node) => {
  if (node.type === "CallExpression") return rootOf(node.callee)
  return node.type === "MemberExpression" ? rootOf(node.object) : nameOf(node)
}
