/** The Status that a user receives when a handler fails. */
import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Status from "../../../src/kube/Status.ts"
import { deny, type Failure, statusOf } from "../../../src/layers/webhook/denial.ts"

class Unaffordable extends Data.TaggedError("Unaffordable")<{ readonly message: string }> {}

const context = { verb: "get", path: "/api/v1/nodes/n", resource: "nodes", name: "n" }

const notFound = ApiError.fromStatus({
  context,
  status: 404,
  body: Status.failure({ code: 404, reason: "NotFound", message: 'nodes "n" not found', details: { name: "n" } })
})

const failures: ReadonlyArray<readonly [string, Failure, Partial<Status.Status>]> = [
  ["a refusal forbids", deny("no"), { code: 403, reason: "Forbidden", message: "no" }],
  [
    "a refusal with a path is of an invalid object",
    deny("too big", { path: "spec.size" }),
    {
      code: 422,
      reason: "Invalid",
      message: "too big",
      details: {
        name: "one",
        kind: "Gadget",
        causes: [{ reason: "FieldValueInvalid", message: "too big", field: "spec.size" }]
      }
    }
  ],
  [
    "a refusal may say its own code and reason, and several causes",
    deny("not now", { code: 429, reason: "TooManyRequests", causes: [{ path: "a", message: "b" }] }),
    {
      code: 429,
      reason: "TooManyRequests",
      message: "not now",
      details: { name: "one", kind: "Gadget", causes: [{ reason: "FieldValueInvalid", message: "b", field: "a" }] }
    }
  ],
  [
    "what the API server said to the handler is passed on",
    notFound,
    { code: 404, reason: "NotFound", message: 'nodes "n" not found', details: { name: "n" } }
  ],
  [
    "a call that never reached the API server forbids, in its own words",
    ApiError.network(context, new Error("connect ECONNREFUSED")),
    { code: 403, reason: "Forbidden", message: "connect ECONNREFUSED" }
  ],
  ["any other failure forbids", new Unaffordable({ message: "gold costs" }), { code: 403, message: "gold costs" }]
]

describe("a failure of a handler", () => {
  for (const [title, failure, status] of failures) {
    it(`receives: ${title}`, () =>
      assert.deepInclude(statusOf(failure, "Gadget", "one"), { status: "Failure", kind: "Status", ...status }))
  }

  it("of an object without a name has no name", () => {
    assert.deepStrictEqual(statusOf(deny("x", { path: "a" }), "Gadget", "").details, {
      kind: "Gadget",
      causes: [{ reason: "FieldValueInvalid", message: "x", field: "a" }]
    })
  })
})
