import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Program from "../../../src/simulation/pod/program.ts"

const sh = (script: string, flag = "-c") => Program.run(["/bin/sh", flag, script])
const exit = (code: number, seconds = 0) => ({ code, after: seconds * 1_000 })

it("simple commands and scripts of them end with their code, and all others run on", () => {
  assert.deepStrictEqual(Program.run(["sleep", "3"]), exit(0, 3))
  assert.deepStrictEqual(Program.run(["/bin/sleep", "1.5m"]), exit(0, 90))
  assert.strictEqual(Program.run(["sleep", "infinity"]), "endless")
  assert.strictEqual(Program.run(["tail", "-f", "/dev/null"]), "endless")
  assert.deepStrictEqual(Program.run(["sleep", "x"]), exit(1))
  assert.deepStrictEqual(Program.run(["true"]), exit(0))
  assert.deepStrictEqual(Program.run(["/bin/false"]), exit(1))
  assert.isUndefined(Program.run(["nginx", "-g", "daemon off;"]))
  assert.isUndefined(Program.run([]))
  assert.deepStrictEqual(sh("sleep 3; exit 1"), exit(1, 3))
  assert.deepStrictEqual(sh("echo hello && sleep 2\nexit 258"), exit(2, 2))
  assert.deepStrictEqual(sh("false && sleep 9; sleep 1"), exit(0, 1))
  assert.deepStrictEqual(sh("false || exit 4"), exit(4))
  assert.deepStrictEqual(sh("true || exit 4"), exit(0))
  assert.deepStrictEqual(sh("false; exit"), exit(1))
  assert.deepStrictEqual(sh("exit 3; sleep 9"), exit(3))
  assert.deepStrictEqual(sh("false; sleep 9", "-ec"), exit(1))
  assert.deepStrictEqual(sh("set -e; false; sleep 9"), exit(1))
  assert.deepStrictEqual(sh("exec sleep 5"), exit(0, 5))
  assert.deepStrictEqual(sh("date; echo Hello > /tmp/hello && cat /tmp/hello; sleep 1"), exit(0, 1))
  assert.strictEqual(sh("while true; do sleep 1; done"), "endless")
  assert.strictEqual(sh("sleep 5 && exec tail -F /var/log/messages"), "endless")
  assert.isUndefined(sh("until nslookup db; do sleep 1; done"))
  assert.isUndefined(sh("sleep 1; server"))
})

it.prop(
  "any words give no exit, or a code from 0 to 255 after a time that is not negative",
  { words: Arbitrary.schema(Schema.Array(Schema.String)), script: Schema.String },
  ({ script, words }) => {
    for (const one of [Program.run(words), sh(script), sh(`sleep 1;${script}`)]) {
      if (one === undefined || one === "endless") continue
      assert.isTrue(Number.isInteger(one.code) && one.code >= 0 && one.code < 256)
      assert.isTrue(Number.isFinite(one.after) && one.after >= 0)
    }
  }
)
