/**
 * The CustomResourceDefinitions in a text of YAML or JSON, of one or several documents, among objects of other kinds and in lists. A fault names
 * the line. The text may come from anywhere: aliases are bounded, and so is the depth.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Yaml from "yaml"
import * as Definition from "../../kube/crd/types/definition.ts"
import { oneLine } from "../../kube/printable.ts"
import { isMembers } from "../../kube/structural/StructuralSchema.ts"

/** A definition and where it is. */
export interface Found {
  readonly definition: Definition.Definition
  /** `crds.yaml:120` for a field of the definition, or the nearest place around it that the text has. */
  readonly placeOf: (field: string) => string
}

/** Everything in one text. */
export interface Contents {
  readonly found: ReadonlyArray<Found>
  /** `crds.yaml:12:3: …`, one line for each. */
  readonly faults: ReadonlyArray<string>
}

/** How often aliases may repeat a part of a document. */
const aliasLimit = 100

/** `source`: how the text is called in messages. */
export const read = Effect.fnUntraced(function* (text: string, source: string) {
  const yaml = yield* Effect.promise(() => import("yaml"))
  const lines = new yaml.LineCounter()
  const parsed = attempt(() =>
    yaml.parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false, logLevel: "silent" })
  )
  if (Result.isFailure(parsed)) return { found: [], faults: [`${source}: ${parsed.failure}`] } satisfies Contents
  const documents = Array.isArray(parsed.success) ? parsed.success : []
  const contents = documents.map((document) =>
    contentsOf(document, { lines, source, isMap: yaml.isMap, isSeq: yaml.isSeq })
  )
  const found = contents.flatMap((one) => one.found)
  const faults = contents.flatMap((one) => one.faults)
  const kinds = [...new Set(contents.flatMap((one) => one.kinds))].slice(0, 5).map((kind) => JSON.stringify(kind))
  if (found.length === 0 && faults.length === 0) {
    const instead = kinds.length === 0 ? "no object of Kubernetes" : `only objects of the kinds ${kinds.join(", ")}`
    faults.push(`${source}: has no ${Definition.kind}: it has ${instead}`)
  }
  return { found, faults } satisfies Contents
})

interface Reading {
  readonly source: string
  readonly lines: Yaml.LineCounter
  readonly isMap: typeof Yaml.isMap
  readonly isSeq: typeof Yaml.isSeq
}

interface DocumentContents extends Contents {
  readonly kinds: ReadonlyArray<string>
}

const contentsOf = (document: Yaml.Document.Parsed, reading: Reading): DocumentContents => {
  const { lines, source } = reading
  const nothing = (fault: string): DocumentContents => ({ found: [], faults: [fault], kinds: [] })
  const [error] = document.errors
  if (error !== undefined) {
    const { col, line } = lines.linePos(error.pos[0])
    const why = /call stack/.test(error.message) ? "is nested too deeply" : oneLine(error.message)
    return nothing(`${source}:${line}:${col}: ${why}`)
  }
  const value = attempt((): unknown => document.toJS({ maxAliasCount: aliasLimit }))
  if (Result.isFailure(value)) {
    return nothing(`${source}:${lines.linePos(document.range[0]).line}: ${oneLine(value.failure)}`)
  }
  const read = objectsIn(value.success).map(({ object, path }): DocumentContents => {
    const placeOf = (field: string): string => {
      const node = nodeAt(document.contents, [path, field].filter((one) => one !== "").join("."), reading)
      const at = node?.range?.[0]
      return at === undefined ? source : `${source}:${lines.linePos(at).line}`
    }
    if (object["kind"] !== Definition.kind) {
      return { found: [], faults: [], kinds: typeof object["kind"] === "string" ? [object["kind"]] : [] }
    }
    const name = isMembers(object["metadata"]) ? String(object["metadata"]["name"]) : ""
    return Result.match(Definition.read(object), {
      onSuccess: (definition) => ({ found: [{ definition, placeOf }], faults: [], kinds: [] }),
      onFailure: (causes) => ({
        found: [],
        faults: causes.map(({ field, message }) => oneLine(`${placeOf(field)}: ${name}: ${field}: ${message}`)),
        kinds: []
      })
    })
  })
  return {
    found: read.flatMap((one) => one.found),
    faults: read.flatMap((one) => one.faults),
    kinds: read.flatMap((one) => one.kinds)
  }
}

/** The library throws, also for a text that is nested deeper than the stack. */
const attempt = <A>(work: () => A): Result.Result<A, string> => {
  try {
    return Result.succeed(work())
  } catch (error) {
    const isDeep = error instanceof RangeError
    return Result.fail(isDeep ? "is nested too deeply" : error instanceof Error ? error.message : String(error))
  }
}

interface Placed {
  readonly object: Readonly<Record<string, unknown>>
  /** `items[3]` in a list. */
  readonly path: string
}

const objectsIn = (value: unknown, path = ""): ReadonlyArray<Placed> => {
  if (!isMembers(value)) return []
  const { items, kind } = value
  if (typeof kind !== "string" || !kind.endsWith("List") || !Array.isArray(items)) return [{ object: value, path }]
  return items.flatMap((one, index) => objectsIn(one, `${path === "" ? "" : `${path}.`}items[${index}]`))
}

/** The node of a field, or the deepest one on the way to it. Names of fields may have any characters, so each is tried as it is. */
const nodeAt = (node: Yaml.Node | null, field: string, reading: Reading): Yaml.Node | null => {
  if (field === "" || node === null) return node
  const rest = field.startsWith(".") ? field.slice(1) : field
  if (reading.isMap(node)) {
    for (const { key, value } of node.items) {
      const name = String((key as { readonly value?: unknown } | null)?.value)
      const spelled = [name, `[${name}]`].find(
        (text) => rest === text || (rest.startsWith(text) && /[.[]/.test(rest.charAt(text.length)))
      )
      if (spelled === undefined) continue
      const below = nodeAt(value as Yaml.Node | null, rest.slice(spelled.length), reading)
      // The line of the name, which is where a value of several lines begins.
      return rest === spelled || below === null ? (key as Yaml.Node) : below
    }
  }
  const [, index, more = ""] = /^\[(\d+)\]([^]*)$/.exec(rest) ?? []
  if (index === undefined || !reading.isSeq(node)) return node
  return nodeAt((node.items[Number(index)] as Yaml.Node | undefined) ?? node, more, reading)
}
