import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Add from "../../../src/cli/create/additions.ts"
import { api, draft, refusal, templates } from "./drafts.ts"

const get = Result.getOrThrow<Add.Draft, Add.Refusal>

const textOf = (from: Add.Draft, path: string): string => from.files.get(path) ?? ""

/** `run({ … })` of src/main.ts. */
const mainOf = (from: Add.Draft): string => textOf(from, "src/main.ts").replace(/^[^]*?(?=run\()/, "")

const main = (options: string, imports = ""): Readonly<Record<string, string>> => ({
  "src/main.ts": `import { run } from "effect-controller-manager/node"\nimport { BlogPostController } from "./BlogPostController.ts"\n${imports}\nrun({ ${options} })\n`
})

const webhook = (from: Add.Draft, kind = "BlogPost", type: "defaulting" | "validating" = "validating") =>
  Add.webhook(from, templates, { kind, type })

const controller = (from: Add.Draft, name: string, kind: string) => Add.controller(from, templates, { name, for: kind })

describe("create api", () => {
  it("writes the kind, its controller and a test, and lists the controller", () => {
    const { changes, files } = get(api(draft(), "Order"))
    assert.deepStrictEqual(
      changes.map(({ before, path }) => [path, before === undefined]),
      [
        ["src/main.ts", false],
        ["src/Order.ts", true],
        ["src/OrderController.ts", true],
        ["test/OrderController.test.ts", true]
      ]
    )
    assert.include(files.get("src/Order.ts"), 'group: "shop.example.org",\n  version: "v1",\n  kind: "Order"')
    assert.include(files.get("src/main.ts"), 'import { OrderController } from "./OrderController.ts"\n')
    for (const { text } of changes.slice(1)) assert.notMatch(text, /widget|example\.com/i)
  })

  it("writes a kind without namespaces, and one without a controller", () => {
    const region = get(api(draft(), "Region", { isClusterScoped: true }))
    assert.include(textOf(region, "src/Region.ts"), 'scope: "Cluster"')
    assert.include(textOf(region, "test/RegionController.test.ts"), 'const target = { name: "first" }')
    const two = get(api(get(api(draft(), "Config", { hasController: false })), "Policy", { hasController: false }))
    assert.isFalse(two.files.has("src/ConfigController.ts"))
    assert.match(mainOf(two), /\n {2}kinds: \[Config, Policy\]\n\}\)/)
  })

  it("says that a kind or a file exists already, and --force replaces it without listing it twice", () => {
    const once = get(api(draft(), "Order"))
    assert.match(
      refusal(api(once, "Order")),
      /^the kind Order of shop\.example\.org in src\/Order\.ts:\d+ exists already; `create version`/
    )
    assert.match(
      refusal(api(once, "Order", { group: "other.example.org" })),
      /^src\/Order\.ts exists already; --force replaces it$/
    )
    const forced = new Add.Draft({ files: once.files, isForced: true })
    const again = get(api(forced, "Order", { version: "v3" }))
    assert.strictEqual(mainOf(again), mainOf(once))
    assert.include(textOf(again, "src/Order.ts"), 'version: "v3"')
  })

  it("refuses names that another kind of the group has, that templates import, or that differ in case only", () => {
    const once = get(api(draft(), "Order"))
    assert.match(refusal(api(once, "OrderList")), /^--kind does not take "OrderList": the names of the kind Order/)
    assert.match(refusal(api(once, "Other", { plural: "orders" })), /^--plural does not take "orders": the names/)
    assert.match(
      refusal(api(once, "ORDER", { group: "a.example.org" })),
      /^src\/ORDER\.ts and src\/Order\.ts differ only in case/
    )
    assert.strictEqual(
      refusal(api(once, "ORDER", { group: "a.example.org", hasController: false })),
      "src/ORDER.ts and src/Order.ts differ only in case: choose another name"
    )
    assert.match(refusal(api(draft(), "Main")), /^src\/Main\.ts and src\/main\.ts differ only in case/)
    for (const kind of ["Effect", "Webhook", "KubeClient", "Result"]) {
      assert.match(refusal(api(draft(), kind)), /mean something else by it$/)
    }
  })
})

describe("create webhook", () => {
  it("writes a webhook and a test, and lists it beside the controller of the kind", () => {
    const both = get(webhook(get(webhook(draft())), "BlogPost", "defaulting"))
    assert.include(mainOf(both), "webhooks: [BlogPostValidation, BlogPostDefaulting]")
    assert.isTrue(both.files.has("test/BlogPostValidation.test.ts"))
    assert.strictEqual(refusal(webhook(both)), "src/BlogPostValidation.ts exists already; --force replaces it")
    assert.match(
      refusal(webhook(both, "Order")),
      /^--kind does not take "Order": the project has BlogPost; `create api` adds one$/
    )
  })

  it("lists it beside a kind without a controller", () => {
    const config = get(api(draft(), "Config", { hasController: false }))
    assert.include(mainOf(get(webhook(config, "Config"))), "kinds: [{ kind: Config, webhooks: [ConfigValidation] }]")
  })

  it("adds to what a user has written: a constant, a list of its own, an entry without webhooks, a trailing comma", () => {
    const listed = (options: string, imports = ""): string => mainOf(get(webhook(draft(main(options, imports)))))
    assert.include(
      listed("controllers: [BlogPostController]"),
      'controllers: [{ controller: BlogPostController, byDefault: "on", summary: "", webhooks: [BlogPostValidation] }]'
    )
    assert.include(
      listed("controllers: [{ controller: BlogPostController, webhooks: own }]", 'import { own } from "./own.ts"'),
      "webhooks: [...own, BlogPostValidation]"
    )
    assert.include(
      listed("controllers: [{ webhooks: [a,], controller: BlogPostController, }],"),
      "webhooks: [a, BlogPostValidation]"
    )
  })
})

describe("create controller", () => {
  it("writes a controller for a kind of Kubernetes or of the project, that may do no more than record events", () => {
    const pods = get(controller(draft(), "pod-janitor", "Pod"))
    assert.include(textOf(pods, "src/PodJanitorController.ts"), "for: Pod,")
    assert.include(textOf(pods, "src/PodJanitorController.ts"), "access: [Access.record],")
    assert.include(textOf(pods, "src/PodJanitorController.ts"), 'annotation = "blog-operator/pod-janitor"')
    assert.include(
      textOf(pods, "test/PodJanitorController.test.ts"),
      "kind: Pod\nmetadata: { namespace: default, name: first }"
    )
    const nodes = get(controller(pods, "nodes", "Node"))
    assert.include(textOf(nodes, "test/NodesController.test.ts"), 'const target = { name: "first" }')
    assert.include(
      textOf(get(controller(nodes, "posts", "BlogPost")), "src/PostsController.ts"),
      'from "./BlogPost.ts"'
    )
  })

  it("refuses a name or a kind that it cannot use", () => {
    assert.match(
      refusal(controller(draft(), "blogpost", "Pod")),
      /^--name does not take "blogpost": src\/BlogPostController\.ts has a controller "blogpost" already$/
    )
    assert.match(refusal(controller(draft(), "blog-post", "Pod")), /^src\/BlogPostController\.ts exists already/)
    assert.match(refusal(controller(draft(), "replication", "Pod")), /ReplicationController is a kind of Kubernetes$/)
    assert.match(
      refusal(controller(draft(), "a", "Nothing")),
      /^--for does not take "Nothing": it must be one of BlogPost, Pod,/
    )
    assert.match(refusal(controller(draft(), "a", "__proto__")), /^--for does not take "__proto__"/)
  })
})

describe("a project that cannot be edited", () => {
  it("is refused with file, line, and what to add by hand", () => {
    const api1 = (changes: Readonly<Record<string, string>>) => refusal(api(draft(changes), "Order"))
    assert.match(api1({ "package.json": "{" }), /^package\.json is not JSON: /)
    assert.match(api1({ "package.json": "null" }), /^package\.json: its name must be/)
    assert.match(api1({ "src/main.ts": "run()" }), /^src\/main\.ts: there must be one call of run\({ … }\)/)
    assert.match(api1(main("controllers: all")), /^src\/main\.ts:4: create adds to a list that is written out/)
    assert.match(api1(main("controllers: [a].flat()")), /^src\/main\.ts:4: create adds to a list/)
    assert.match(
      api1(main("controllers: [], other: '")),
      /^src\/main\.ts:4: a string does not end; create does not edit/
    )
    assert.match(
      api1(main("controllers: [OrderController]", "const OrderController = 1")) +
        api1(main("controllers: []", "const OrderController = 1")),
      /^accepted: .*src\/main\.ts:4: the name OrderController is something else in this file; nothing was written\. Add by hand: /
    )
    const hook = (changes: Readonly<Record<string, string>>) => refusal(webhook(draft(changes)))
    assert.match(
      hook(main("controllers: [configured(a, b)]")),
      /^src\/main\.ts:4: no controller of the list is for BlogPost, .* Add by hand: import { BlogPostValidation }/
    )
    assert.match(
      hook(main("controllers: [{ controller: BlogPostController, webhooks: a() }]")),
      /^src\/main\.ts:4: this is not written out; nothing was written\. Add by hand: webhooks: \[BlogPostValidation\] to the entry of BlogPost$/
    )
  })

  it("may have no kind at all, or one that is declared twice or under another name", () => {
    const declared = (name: string, kind = "Twice") =>
      `export const ${name} = Resource.make({ group: "a.b", version: "v1", kind: "${kind}", plural: "p" })`
    const twice = { "src/a.ts": declared("Twice"), "src/b.ts": `\n${declared("Twice")}` }
    assert.strictEqual(refusal(webhook(draft(twice), "Twice")), '"Twice" is declared twice: src/a.ts:1 and src/b.ts:2')
    assert.match(
      refusal(webhook(draft({ "src/a.ts": declared("Other") }), "Twice")),
      /^src\/a\.ts:1: the constant of the kind must be called Twice, not Other$/
    )
    const empty = new Add.Draft({
      files: new Map(Object.entries({ "package.json": '{ "name": "a" }', ...main("controllers: []") })),
      isForced: false
    })
    assert.match(refusal(webhook(empty)), /the project has no kind yet/)
    assert.match(
      refusal(api(new Add.Draft({ files: new Map(), isForced: false }), "Order")),
      /^there is no package\.json: this command adds to a project/
    )
  })
})
