/**
 * Converts YAML request bodies to JSON, like the parser of kube-apiserver: YAML 1.1 (so `defaultMode: 0644` is octal and `on` is true),
 * but timestamps stay strings and `80:80` is not sexagesimal. A module of its own because it is loaded with the first YAML body.
 */
import * as Result from "effect/Result"
import { Composer, type CST, Parser } from "yaml"
import { maxDepth } from "../../body.ts"

/** The JSON text, or why the text is not one YAML document. Keys such as `__proto__` become plain data. */
export const toJson = (text: string): Result.Result<string, string> => {
  try {
    return read(text)
  } catch (cause) {
    // The library throws for an alias without an anchor, and for too many aliases.
    return Result.fail(cause instanceof Error ? cause.message : "")
  }
}

const read = (text: string): Result.Result<string, string> => {
  // The parser does not recurse, but the composer does: the depth is checked between them.
  const tokens = [...new Parser().parse(text)]
  if (isTooDeep(tokens)) return Result.fail(`it is nested too deeply, in more than ${maxDepth} levels`)
  const documents = [...composer().compose(tokens)]
  if (documents.length > 1) return Result.fail("expected one YAML document")
  const document = documents[0]
  if (document === undefined) return Result.fail("the body is empty")
  const [error] = document.errors
  if (error !== undefined) return Result.fail(error.message)
  const json: string | undefined = JSON.stringify(document.toJS({ maxAliasCount: 100 }))
  return json === undefined ? Result.fail("the document is empty") : Result.succeed(json)
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
