/**
 * Adds controllers, kinds and webhooks to the call of `run` in `src/main.ts`. Where the place is not what it has to be, nothing is
 * changed, and the refusal says what to add by hand, with file and line. Adding what is there changes nothing. Pure.
 */
import * as Result from "effect/Result"
import * as Edit from "./edit.ts"
import { type Kind, type Main, NotAProject, type Project, specifierOf } from "./Project.ts"
import type { Range, Source } from "./source.ts"
import * as Read from "./source.ts"

/** The new text of a file that exists. */
export interface Changed {
  readonly path: string
  readonly before: string
  readonly text: string
}

type Wired = Result.Result<Changed | undefined, NotAProject | Read.Unreadable>

/** A constant and the file that exports it. */
export interface Exported {
  readonly name: string
  readonly path: string
}

export const byHand = (source: Source, index: number, why: string, what: string): NotAProject =>
  new NotAProject({
    message: `${source.path}:${Read.lineOf(source, index)}: ${why}; nothing was written. Add by hand: ${what}`
  })

/** The file with the edits; reading it again is the proof that they have not broken it. */
export const changed = (source: Source, edits: ReadonlyArray<Edit.Edit>): Result.Result<Changed, Read.Unreadable> => {
  const text = Edit.apply(source.text, edits)
  return Result.map(Read.read(source.path, text), () => ({ path: source.path, before: source.text, text }))
}

const isMentioned = ({ tokens }: Source, name: string): boolean =>
  tokens.some(({ kind, text }) => kind === "word" && text === name)

const importOf = (source: Source, { name, path }: Exported): Edit.Edit | undefined =>
  Edit.importing(source, name, specifierOf(source.path, path))

/** Refuses a name that means something else in the file. */
const added = (source: Source, own: Exported, edit: Edit.Edit, index: number): Wired => {
  const imported = importOf(source, own)
  if (imported !== undefined && isMentioned(source, own.name)) {
    const what = `import what ${own.path} exports under another name, and use that`
    return Result.fail(byHand(source, index, `the name ${own.name} is something else in this file`, what))
  }
  return changed(source, imported === undefined ? [edit] : [imported, edit])
}

export const controller = ({ controllers, source }: Main, own: Exported, summary: string): Wired => {
  const isThere = Read.elements(source, controllers).some((range) => isNamed(source, range, own.name))
  if (isThere) return Result.succeed(undefined)
  const item = `{ controller: ${own.name}, byDefault: "on", summary: ${JSON.stringify(summary)} }`
  return added(source, own, Edit.append(source, controllers, item), controllers)
}

/** A kind without a controller. */
export const kind = ({ options, source }: Main, own: Exported): Wired => {
  const list = Read.property(source, options, "kinds")
  if (list === undefined) return added(source, own, Edit.append(source, options, `kinds: [${own.name}]`), options)
  if (Read.textAt(source, list.value) !== "[") {
    return Result.fail(byHand(source, list.from, "kinds is not a list that is written out", `${own.name} to kinds`))
  }
  const isThere = Read.elements(source, list.value).some((range) => isNamed(source, range, own.name))
  if (isThere) return Result.succeed(undefined)
  return added(source, own, Edit.append(source, list.value, own.name), list.value)
}

/** A webhook, beside the controller of its kind, or beside the kind. */
export const webhook = (project: Project, of: Kind, own: Exported): Wired => {
  const { source } = project.main
  if (importOf(source, own) === undefined) return Result.succeed(undefined)
  const place = placeOf(project, of)
  if (place === undefined) {
    const what = `import { ${own.name} } from ${JSON.stringify(specifierOf(source.path, own.path))}, and webhooks: [${own.name}] to a controller`
    return Result.fail(
      byHand(
        source,
        project.main.controllers,
        `no controller of the list is for ${of.name}, and kinds does not have it`,
        what
      )
    )
  }
  const edit = beside(source, place, own.name)
  return edit === undefined
    ? Result.fail(
        byHand(
          source,
          place.range.from,
          "this is not written out",
          `webhooks: [${own.name}] to the entry of ${of.name}`
        )
      )
    : added(source, own, edit, place.range.from)
}

interface Place {
  readonly range: Range
  /** The entry that a constant alone stands for. */
  readonly entryOf: (name: string, webhooks: string) => string
}

const placeOf = ({ controllers, main }: Project, of: Kind): Place | undefined => {
  const constants = controllers.filter((one) => one.for === of.name).map(({ constant }) => constant)
  const own = `${of.name}Controller`
  const ranges = Read.elements(main.source, main.controllers)
  const found = [own, ...constants.filter((one) => one !== own)]
    .filter((one) => constants.includes(one))
    .map((one) => ranges.find((range) => isNamed(main.source, range, one)))
    .find((range) => range !== undefined)
  if (found !== undefined) {
    return {
      range: found,
      entryOf: (name, webhooks) => `{ controller: ${name}, byDefault: "on", summary: "", ${webhooks} }`
    }
  }
  const list = Read.property(main.source, main.options, "kinds")
  const kinds =
    list === undefined || Read.textAt(main.source, list.value) !== "[" ? [] : Read.elements(main.source, list.value)
  const range = kinds.find((one) => isNamed(main.source, one, of.name))
  return range === undefined ? undefined : { range, entryOf: (name, webhooks) => `{ kind: ${name}, ${webhooks} }` }
}

/** Whether an element is a constant, or an object whose `controller` or `kind` is that constant. */
const isNamed = (source: Source, { from, to }: Range, name: string): boolean => {
  if (to === from + 1) return Read.wordAt(source, from) === name
  if (Read.textAt(source, from) !== "{") return false
  return ["controller", "kind"].some((key) => {
    const found = Read.property(source, from, key)
    return found?.to === (found?.value ?? 0) + 1 && Read.wordAt(source, found?.value ?? 0) === name
  })
}

const beside = (source: Source, { entryOf, range }: Place, name: string): Edit.Edit | undefined => {
  if (range.to === range.from + 1) {
    return Edit.replace(source, range, entryOf(Read.wordAt(source, range.from) ?? "", `webhooks: [${name}]`))
  }
  const list = Read.property(source, range.from, "webhooks")
  if (list === undefined) return Edit.append(source, range.from, `webhooks: [${name}]`)
  if (Read.textAt(source, list.value) === "[" && source.partners.get(list.value) === list.to - 1) {
    return Edit.append(source, list.value, name)
  }
  const isConstant = list.to === list.value + 1 && Read.wordAt(source, list.value) !== undefined
  return isConstant
    ? Edit.replace(source, list, `webhooks: [...${Read.textAt(source, list.value)}, ${name}]`)
    : undefined
}
