/** The delay before a failed pod is replaced. Source: pkg/controller/job: backoffStore. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Backoff from "../../../../src/controllers/job/plan/backoff.ts"
import type { Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import { checkProperty } from "../../../support/property.ts"
const second = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2000 }))
const times = Arbitrary.schema(
  Schema.Struct({
    failures: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
    last: second,
    now: second,
    succeeded: Schema.Array(second),
    failed: Schema.Array(second)
  })
)

const endedAt = (seconds: number): Pod => ({
  metadata: { name: "a", uid: `${seconds}` },
  status: {
    containerStatuses: [
      {
        name: "main",
        image: "",
        imageID: "",
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 0, finishedAt: Time.format(seconds * 1000) } }
      }
    ]
  }
})

/** Seconds by the number of failures: 10 s, doubled after each failure, at most 10 min. */
const delays = [0, 10, 20, 40, 80, 160, 320, 600]

describe("Backoff", () => {
  checkProperty("doubles from 10 s up to 10 min", times, ({ failures, last, now }) => {
    const delay = delays[Math.min(failures, 7)] ?? 0
    const expected = failures === 0 ? 0 : Math.max(0, last + delay - now)
    return Backoff.remaining({ failures, last: last * 1000 }, now * 1000) === expected * 1000
  })

  checkProperty("counts the failures since the last success", times, ({ failed, failures, last, succeeded }) => {
    const before = failures === 0 ? Backoff.none : { failures, last: last * 1000 }
    const record = Backoff.after(before, succeeded.map(endedAt), failed.map(endedAt))
    const success = Math.max(-1, ...succeeded)
    const since = succeeded.length === 0 ? failed : failed.filter((at) => at > success)
    const kept = succeeded.length === 0 ? failures : 0
    // The latest end among these pods, even if a pod that was counted earlier ended later.
    const latest = since.length === 0 ? last : Math.max(...since)
    return (
      record.failures === kept + since.length && record.last === (record.failures === 0 ? undefined : latest * 1000)
    )
  })

  checkProperty("a new failure never shortens the backoff of an index", times, ({ failures, last, now }) => {
    const pod = (count: number): Pod => {
      const ended = endedAt(last)
      const annotations = { "batch.kubernetes.io/job-index-failure-count": `${count}` }
      return { ...ended, metadata: { ...ended.metadata, annotations } }
    }
    const [shorter, longer] = [pod(failures), pod(failures + 1)].map((one) => Backoff.remainingOf(one, now * 1000))
    const delay = (delays[Math.min(failures + 1, 7)] ?? 0) * 1000
    return (longer ?? 0) >= (shorter ?? 0) && shorter === Math.max(0, last * 1000 + delay - now * 1000)
  })
})
