/** The options of a query, by themselves: which are read, and which are refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as listOptions from "../../../src/apiserver/endpoints/listOptions.ts"
import * as writeOptions from "../../../src/apiserver/endpoints/writeOptions.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import { isRefusal } from "../../../src/apiserver/StatusError.ts"

const pods = resources.all.find(({ plural }) => plural === "pods")!

const target = { resource: pods, namespace: "default", name: "", subresource: "" }

const query = (members: Readonly<Record<string, string>>): URLSearchParams => new URLSearchParams(members)

const Digits = Schema.Union([Schema.String, Schema.Int.check(Schema.isBetween({ minimum: -1e15, maximum: 1e15 }))])

describe("The options of a list", () => {
  it.prop("a number is read as it is, and any other text is refused", [Arbitrary.schema(Digits)], ([value]) => {
    const text = String(value)
    const found = listOptions.integer(query({ limit: text }), "limit")
    if (text === "") assert.isUndefined(found)
    else if (/^-?\d{1,18}$/.test(text)) assert.strictEqual(found, Number(text))
    else assert.isTrue(isRefusal(found))
  })

  it.prop("a resourceVersion is no negative number", [Arbitrary.schema(Digits)], ([value]) => {
    const found = listOptions.resourceVersion(query({ resourceVersion: String(value) }))
    if (typeof value === "number") assert.isTrue(value < 0 ? isRefusal(found) : found === value)
    else assert.isTrue(found === undefined || isRefusal(found) || found >= 0)
  })

  it.prop("any text is a selector or refused", [Arbitrary.schema(Schema.String)], ([text]) => {
    for (const name of ["labelSelector", "fieldSelector"]) {
      const found = listOptions.parse(target, query({ [name]: text }))
      assert.isTrue(isRefusal(found) ? found.status.code === 400 : found.namespace === "default")
    }
  })

  it("a field that the resource does not select by is refused", () => {
    const isRefused = (fieldSelector: string) => isRefusal(listOptions.parse(target, query({ fieldSelector })))
    assert.deepStrictEqual(["spec.nodeName=a", "metadata.name=a", "spec.image=a"].map(isRefused), [false, false, true])
  })
})

describe("The options of a write", () => {
  const Options = Schema.Struct({
    method: Schema.Literals(["POST", "PUT", "PATCH", "DELETE", "GET"]),
    type: Schema.Literals(["application/apply-patch+yaml", "application/json"]),
    dryRun: Schema.Array(Schema.Literals(["All", "None", ""])).check(Schema.isMaxLength(2)),
    fieldManager: Schema.Literals(["", "kubectl", "ä".repeat(64), "ä".repeat(65), "a\n"]),
    force: Schema.Boolean
  })

  it.prop(
    "are refused for a dryRun other than All, a manager that is too long or not printable, and a force that does not fit",
    [Arbitrary.schema(Options)],
    ([{ dryRun, fieldManager, force, method, type }]) => {
      const search = query({ fieldManager, force: String(force) })
      for (const one of dryRun) search.append("dryRun", one)
      const isPatch = method === "PATCH"
      const isApply = type === "application/apply-patch+yaml"
      const isWrong =
        dryRun.some((one) => one !== "All") ||
        fieldManager === "ä".repeat(65) ||
        fieldManager === "a\n" ||
        (isPatch && isApply && fieldManager === "") ||
        (isPatch && !isApply && force)
      const request = { path: "/", headers: { "content-type": type }, body: "", user: { name: "x", groups: [] } }
      const refusal = writeOptions.refuse({ ...request, method, query: search })
      assert.strictEqual(refusal?.status.code, isWrong && method !== "GET" ? 422 : undefined)
    }
  )
})
