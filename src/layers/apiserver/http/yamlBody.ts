/**
 * YAML request bodies as JSON text, read the way the reference server's parser reads them: YAML 1.1 (so `defaultMode: 0644`
 * is octal and `on` is true), but timestamps stay strings and `80:80` is no sexagesimal number. A module of its own because
 * it is loaded with the first YAML body, not before.
 */
import { parseAllDocuments } from "yaml"

/** Throws with one sentence when the text is not one YAML document. Keys such as `__proto__` come out as plain data. */
export const toJson = (text: string): string => {
  const documents = parseAllDocuments(text, {
    version: "1.1",
    merge: true,
    logLevel: "silent",
    prettyErrors: false,
    customTags: (tags) =>
      tags.filter(
        (tag) => typeof tag === "string" || (tag.tag !== "tag:yaml.org,2002:timestamp" && tag.format !== "TIME")
      )
  })
  if (!Array.isArray(documents) || documents.length > 1) throw new Error("expected one YAML document")
  const document = documents[0]
  if (document === undefined) throw new Error("the body is empty")
  const [error] = document.errors
  if (error !== undefined) throw new Error(error.message)
  const json: string | undefined = JSON.stringify(document.toJS({ maxAliasCount: 100 }))
  if (json === undefined) throw new Error("the document is empty")
  return json
}
