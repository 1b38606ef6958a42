import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Add from "../../../src/cli/create/additions.ts"
import * as Versions from "../../../src/cli/create/versions.ts"
import { draft, refusal, templates } from "./drafts.ts"

const get = Result.getOrThrow<Add.Draft, Add.Refusal>

const textOf = (from: Add.Draft, path: string): string => from.files.get(path) ?? ""

const version = (from: Add.Draft, to: string, isStored = false, kind = "BlogPost") =>
  Versions.version(from, templates, { kind, version: to, isStored })

const declared = (text: string) => ({
  "src/BlogPost.ts": `import { Resource } from "effect-controller-manager"\n${text}\n`
})

const names = 'group: "apps.example.org", kind: "BlogPost", plural: "blogposts"'

describe("create version", () => {
  it("copies the declaration, lists the copy beside the stored version, and converts between them", () => {
    const two = get(version(draft(), "v1"))
    assert.deepStrictEqual(
      two.changes.map(({ path }) => path),
      [
        "src/BlogPost.ts",
        "src/main.ts",
        "src/BlogPostV1.ts",
        "src/BlogPostConversion.ts",
        "test/BlogPostConversion.test.ts"
      ]
    )
    assert.include(textOf(two, "src/BlogPost.ts"), 'version: "v1alpha1"')
    assert.include(textOf(two, "src/BlogPost.ts"), "versions: [BlogPostV1.declaration]")
    assert.include(textOf(two, "src/BlogPostV1.ts"), "export const BlogPostV1 = Resource.make({")
    assert.include(textOf(two, "src/BlogPostV1.ts"), 'version: "v1",\n  kind: "BlogPost"')
    assert.include(textOf(two, "src/main.ts"), "webhooks: [BlogPostConversion]")
  })

  it("with --storage, keeps the old version under a new name, so that everything else works with the new one", () => {
    const two = get(version(draft(), "v1", true))
    assert.include(textOf(two, "src/BlogPost.ts"), 'version: "v1"')
    assert.include(textOf(two, "src/BlogPost.ts"), "versions: [BlogPostV1alpha1.declaration]")
    assert.include(textOf(two, "src/BlogPostV1alpha1.ts"), 'version: "v1alpha1"')
  })

  it("adds a third version to what is there, and the copy has no list of versions", () => {
    const three = get(version(get(version(draft(), "v1", true)), "v2"))
    assert.include(textOf(three, "src/BlogPost.ts"), "versions: [BlogPostV1alpha1.declaration, BlogPostV2.declaration]")
    assert.notMatch(textOf(three, "src/BlogPostV2.ts"), /versions|V1alpha1/)
    assert.strictEqual(textOf(three, "src/BlogPostConversion.ts").match(/Webhook\.spoke\(BlogPost/g)?.length, 2)
    assert.strictEqual(textOf(three, "src/main.ts").match(/BlogPostConversion,? ?\]/g)?.length, 1)
  })

  it("renames the constant where it is an identifier, and nothing else", () => {
    const text = `/* mine */
export const BlogPost = Resource.make({ ${names}, version: 'v1alpha1', spec: own.BlogPost, BlogPost: 1 })
export type BlogPost = Resource.Decoded<typeof BlogPost> // BlogPost
`
    const copy = textOf(get(version(draft(declared(text)), "v2")), "src/BlogPostV2.ts")
    assert.include(
      copy,
      `export const BlogPostV2 = Resource.make({ ${names}, version: "v2", spec: own.BlogPost, BlogPost: 1 })`
    )
    assert.include(copy, "export type BlogPostV2 = Resource.Decoded<typeof BlogPostV2> // BlogPost")
  })

  it("says that a version exists already", () => {
    const two = get(version(draft(), "v1"))
    assert.match(refusal(version(two, "v1")), /^BlogPost has the version v1 already: src\/BlogPostV1\.ts:\d+$/)
    assert.match(
      refusal(version(two, "v1alpha1")),
      /^BlogPost has the version v1alpha1 already: src\/BlogPost\.ts:\d+$/
    )
    assert.match(refusal(version(two, "2")), /^--version does not take "2"/)
    assert.match(refusal(version(two, "v2", false, "Order")), /^--kind does not take "Order"/)
  })

  it("keeps conversions that a user has changed, with --force too", () => {
    const two = get(version(draft(), "v1"))
    const path = "src/BlogPostConversion.ts"
    const mine = textOf(two, path).replace("toHub: Effect.succeed", "toHub: mine")
    const forced = new Add.Draft({ files: new Map([...two.files, [path, mine]]), isForced: true })
    assert.include(textOf(get(version(forced, "v2")), path), "toHub: mine")
  })

  it("is refused, with what to add by hand, where there is more than it can copy or add to", () => {
    const of = (text: string) => refusal(version(draft(declared(text)), "v2"))
    const one = (more: string) => `export const BlogPost = Resource.make({ ${names}, version: "v1"${more} })`
    assert.match(
      of(`${one("")}\nexport const Other = Resource.make({ group: "a.b", version: "v1", kind: "Other", plural: "o" })`),
      /^src\/BlogPost\.ts:2: the file declares several kinds, .* Add by hand: a file with the kind in version v2/
    )
    assert.match(
      of(one(", versions: all")),
      /^src\/BlogPost\.ts:2: versions is not a list .* Add by hand: BlogPostV2\.declaration to versions$/
    )
    const two = get(version(draft(), "v1"))
    const changed = new Add.Draft({
      files: new Map([...two.files, ["src/BlogPostConversion.ts", "export const a = 1"]]),
      isForced: false
    })
    assert.match(
      refusal(version(changed, "v2")),
      /^src\/BlogPostConversion\.ts:1: there is no list of conversions .* Add by hand: Webhook\.spoke\(BlogPostV2,/
    )
  })
})

describe("create webhook --conversion", () => {
  const conversion = (from: Add.Draft) => Versions.conversion(from, templates, "BlogPost")

  it("says that there is nothing to convert, or that create version has written it", () => {
    assert.match(
      refusal(conversion(draft())),
      /^BlogPost has one version, v1alpha1, so there is nothing to convert: `create version/
    )
    assert.match(
      refusal(conversion(get(version(draft(), "v1")))),
      /^src\/BlogPostConversion\.ts exists already: `create version` writes it/
    )
  })

  it("writes conversions for all versions of a kind that has none", () => {
    const { files } = get(version(get(version(draft(), "v1")), "v2"))
    const rest = Array.from(files).filter(([path]) => !path.includes("Conversion"))
    const main =
      files
        .get("src/main.ts")
        ?.replace(/^import { BlogPostConversion.*\n/m, "")
        .replace(/,\s*webhooks: \[BlogPostConversion\]/, "") ?? ""
    const without = new Add.Draft({ files: new Map([...rest, ["src/main.ts", main]]), isForced: false })
    const again = get(conversion(without))
    assert.strictEqual(textOf(again, "src/BlogPostConversion.ts"), files.get("src/BlogPostConversion.ts"))
    assert.include(textOf(again, "src/main.ts"), "webhooks: [BlogPostConversion]")
  })
})
