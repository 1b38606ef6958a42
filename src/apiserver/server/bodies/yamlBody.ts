/**
 * Converts YAML request bodies to JSON, like the parser of kube-apiserver: YAML 1.1 (so `defaultMode: 0644` is octal and `on` is true),
 * but timestamps stay strings and `80:80` is not sexagesimal. A module of its own because it is loaded with the first YAML body.
 */
import { Composer, type CST, Parser } from "yaml"
import { maxDepth } from "../../body.ts"

/** Throws when the text is not one YAML document. Keys such as `__proto__` become plain data. */
export const toJson = (text: string): string => {
  // The parser does not recurse, but the composer does: the depth is checked between them.
  const tokens = [...new Parser().parse(text)]
  if (isTooDeep(tokens)) throw new Error(`it is nested too deeply, in more than ${maxDepth} levels`)
  const documents = [...composer().compose(tokens)]
  if (documents.length > 1) throw new Error("expected one YAML document")
  const document = documents[0]
  if (document === undefined) throw new Error("the body is empty")
  const [error] = document.errors
  if (error !== undefined) throw new Error(error.message)
  const json: string | undefined = JSON.stringify(document.toJS({ maxAliasCount: 100 }))
  if (json === undefined) throw new Error("the document is empty")
  return json
}

const composer = () =>
  new Composer({
    version: "1.1",
    merge: true,
    logLevel: "silent",
    prettyErrors: false,
    customTags: (tags) =>
      tags.filter(
        (tag) => typeof tag === "string" || (tag.tag !== "tag:yaml.org,2002:timestamp" && tag.format !== "TIME")
      )
  })

const isTooDeep = (tokens: ReadonlyArray<CST.Token>): boolean => {
  const open: Array<readonly [CST.Token, number]> = tokens.map((token) => [token, 0])
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next
    if (token.type === "document" && token.value !== undefined) open.push([token.value, depth])
    if (!("items" in token)) continue
    if (depth === maxDepth) return true
    for (const { key, value } of token.items) {
      if (key !== undefined && key !== null) open.push([key, depth + 1])
      if (value !== undefined) open.push([value, depth + 1])
    }
  }
  return false
}
