import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Names from "../../../src/cli/create/names.ts"
import { checkProperty } from "../../support/property.ts"

const good = { group: "apps.example.com", kind: "BlogPost", version: "v1alpha1", plural: undefined }

const refusal = (said: Partial<Names.Said>, taken: ReadonlySet<string> = new Set()): string =>
  messageOf(Names.make("my-operator", { ...good, ...said }, taken))

const messageOf = (made: Result.Result<unknown, Names.InvalidNames>): string =>
  Result.match(made, {
    onFailure: ({ message }) => message,
    onSuccess: (names) => `accepted ${JSON.stringify(names)}`
  })

describe("the names of a new operator", () => {
  it("are derived from the folder, the group and the kind", () =>
    assert.deepStrictEqual(
      Result.getOrThrow(
        Result.flatMap(Names.project("../teams/blog-operator/"), (name) => Names.make(name, good, new Set()))
      ),
      {
        name: "blog-operator",
        group: "apps.example.com",
        kind: "BlogPost",
        singular: "blogpost",
        plural: "blogposts",
        version: "v1alpha1"
      }
    ))

  it("have the English plural, or the given one", () => {
    const plurals = {
      memcached: "memcacheds",
      policy: "policies",
      gateway: "gateways",
      ingress: "ingresses",
      box: "boxes"
    }
    for (const [singular, plural] of Object.entries(plurals)) assert.strictEqual(Names.pluralOf(singular), plural)
    const said = Result.getOrThrow(Names.make("my-operator", { ...good, kind: "Person", plural: "people" }, new Set()))
    assert.strictEqual(said.plural, "people")
  })

  it("are rejected in one sentence each if they are invalid", () => {
    assert.match(
      messageOf(Names.project("My_Operator")),
      /^"My_Operator" cannot be the name of an operator: it must be/
    )
    assert.match(messageOf(Names.project(".")), /^"\." cannot be the name/)
    assert.match(messageOf(Names.project("x".repeat(51))), /at most 50/)
    for (const group of ["example", "", "Example.com", "a..b", "-a.b", "a_b.c", `${"a".repeat(180)}.com`]) {
      assert.strictEqual(
        refusal({ group }),
        `--group does not take "${group}": it must be a domain like apps.example.com`
      )
    }
    assert.match(refusal({ group: "batch.k8s.io" }), /are Kubernetes' own$/)
    for (const kind of ["blogPost", "", "Blog-Post", "Blog Post", "9Lives", "Ünicode"]) {
      assert.strictEqual(refusal({ kind }), `--kind does not take "${kind}": it must be a word like BlogPost`)
    }
    for (const version of [
      "1",
      "v",
      "v0",
      "v01",
      "V1",
      "v1alpha",
      "v1alpha0",
      "v1gamma1",
      "v1-beta1",
      "v12345",
      "v1\n"
    ]) {
      assert.strictEqual(
        refusal({ version }),
        `--version does not take "${version}": it must be like v1, v1beta1 or v2alpha1`
      )
    }
    for (const name of ["", "Pod", "pod_janitor", "-pod", "pod-", "9pods", "a b", "x".repeat(51)]) {
      assert.match(messageOf(Names.controller(name)), /^--name does not take ".*": it must be lower-case/)
    }
    assert.match(refusal({ plural: "Posts" }), /^--plural does not take "Posts": it must be/)
    assert.match(refusal({ kind: "Schema" }, new Set(["Schema"])), /^--kind does not take "Schema": the files/)
  })
})

/** Words that are sometimes valid names, and nearly valid otherwise. */
const word = (letters: ReadonlyArray<string>, first: ReadonlyArray<string>) =>
  Schema.Tuple([Schema.Literals(first), Schema.Array(Schema.Literals(letters)).check(Schema.isMaxLength(3))])

const said = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      path: word(["a", "-", "9"], ["a", "b", "../b", "A"]),
      version: word(["1", "beta", "0", "-"], ["v", "v1", "2"]),
      group: word([".b", "c", "-", "."], ["a.b", "a", "apps.k8s.io"]),
      kind: word(["y", "S", "-"], ["A", "Be", "a"]),
      plural: Schema.UndefinedOr(word(["s", "t", "S"], ["a", "b", "-"]))
    })
  ),
  ({ group, kind, path, plural, version }) => ({
    path: textOf(path),
    version: textOf(version),
    group: textOf(group),
    kind: textOf(kind),
    plural: plural === undefined ? undefined : textOf(plural)
  })
)

const textOf = ([first, rest]: readonly [string, ReadonlyArray<string>]): string => first + rest.join("")

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

describe("Names", () => {
  checkProperty(
    "whatever is accepted, a server accepts as the names of a definition and of a Deployment",
    said,
    (one) => {
      const made = Result.flatMap(Names.project(one.path), (name) => Names.make(name, one, new Set()))
      if (Result.isFailure(made)) return true
      const { group, kind, name, plural, singular, version } = made.success
      return (
        [name, plural, singular, version, ...group.split(".")].every((part) => label.test(part)) &&
        group.includes(".") &&
        !`.${group}`.endsWith(".k8s.io") &&
        singular === kind.toLowerCase()
      )
    }
  )

  checkProperty("a refusal is one line that quotes what was said", said, (one) => {
    const made = Result.flatMap(Names.project(one.path), (name) => Names.make(name, one, new Set()))
    if (Result.isSuccess(made)) return true
    const { message } = made.failure
    return !message.includes("\n") && /"[^"]*"/.test(message)
  })
})
