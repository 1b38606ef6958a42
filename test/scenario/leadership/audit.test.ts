/** What counts as a write in another's term; the scenarios of this folder use this check. */
import { assert, describe, it } from "@effect/vitest"
import * as Audit from "./audit.ts"

const lease = { namespace: "kube-system", name: "demo" }

/** A write that was accepted at once, at the time that is its revision unless `more` has another. */
const write = (user: string, revision: number, more: Partial<Audit.Write> = {}): Audit.Write => ({
  user,
  verb: "update",
  resource: "pods",
  namespace: "default",
  name: "p",
  revision,
  received: revision * 1000,
  completed: revision * 1000 + 10,
  ...more
})

const renewal = (user: string, revision: number) => write(user, revision, { resource: "leases", ...lease })

/** `a` leads, `b` takes the lease with revision 10, `a` takes it back with revision 20. */
const terms = [renewal("a", 1), renewal("a", 5), renewal("b", 10), renewal("b", 15), renewal("a", 20)]

const late = (...writes: ReadonlyArray<Audit.Write>) => Audit.late([...terms, ...writes], lease)

const deleted = { verb: "delete", revision: undefined }

describe("the check of the audit log", () => {
  it("finds a write that was accepted in another's term", () => {
    const wrong = [write("a", 12), write("a", 18, deleted), write("b", 21)]
    assert.deepStrictEqual(late(write("a", 2), write("b", 11), ...wrong, write("a", 22)), wrong)
  })

  it("finds no write of the replica that led", () => {
    assert.deepStrictEqual(
      late(write("a", 2), write("b", 11), write("b", 19), write("a", 22), write("b", 16, deleted)),
      []
    )
  })

  it("ignores events, and writes that changed nothing", () => {
    const unchanged = write("b", 3, { received: 16_000, completed: 16_010 })
    assert.deepStrictEqual(late(write("a", 12, { resource: "events" }), unchanged), [])
  })

  it("ignores a deletion that was received before the response to the takeover", () => {
    assert.deepStrictEqual(late(write("a", 10, { ...deleted, received: 10_005, completed: 12_000 })), [])
  })
})
