/** Projects in memory for the tests of `create`, written from the real templates. */
import * as Result from "effect/Result"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import * as Add from "../../../src/cli/create/additions.ts"
import * as Names from "../../../src/cli/create/names.ts"
import * as Template from "../../../src/cli/create/template.ts"

export const templatesUrl = new URL("../../../templates/", import.meta.url)

/** The files of a folder, with their paths in it. */
export const filesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [relative(folder, path), readFileSync(path, "utf8")])
  )

const root = fileURLToPath(templatesUrl)

export const templates: Template.Templates = new Map(
  readdirSync(root).map((folder) => [
    folder,
    Array.from(filesIn(join(root, folder)), ([path, text]) => ({ path, text }))
  ])
)

/** A new project for the kind BlogPost. */
export const project = (isClusterScoped = false): ReadonlyMap<string, string> => {
  const said = { group: "apps.example.org", kind: "BlogPost", version: "v1alpha1", plural: undefined }
  const names = Result.getOrThrow(Names.make("blog-operator", said, Template.taken(templates)))
  const files = Template.project(templates, names, { isClusterScoped, library: "*" })
  return new Map(files.map(({ path, text }) => [path, text]))
}

export const draft = (changes: Readonly<Record<string, string>> = {}, isForced = false): Add.Draft =>
  new Add.Draft({ files: new Map([...project(), ...Object.entries(changes)]), isForced })

export const api = (from: Add.Draft, kind: string, options: Partial<Names.Said & Omit<Add.Api, "names">> = {}) => {
  const { hasController = true, isClusterScoped = false, ...said } = options
  const names = { group: "shop.example.org", kind, version: "v1", plural: undefined, ...said }
  return Add.api(from, templates, { names, isClusterScoped, hasController })
}

/** The message of a refusal, or what was accepted. */
export const refusal = (result: Result.Result<Add.Draft, Add.Refusal>): string =>
  Result.match(result, {
    onFailure: ({ message }) => message,
    onSuccess: ({ changes }) => `accepted: ${changes.map(({ path }) => path).join(", ")}`
  })
