import { describe } from "@effect/vitest"
/** The least interval between runs, for random changes: which runs it delays, and which keys it remembers. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Loop from "../../../src/layers/controller/loop.ts"
import type { KeyedQueue } from "../../../src/streams/queue/KeyedQueue.ts"
import { checkProperty } from "../../support/property.ts"

const spacing = 100

/** Changes of a key, each with the time since the previous one. */
const changes = Arbitrary.schema(
  Schema.Array(
    Schema.Struct({ after: Schema.Literals([0, 1, 30, 99, 100, 101, 250]), key: Schema.Literals(["a", "b", "c"]) })
  ).check(Schema.isMaxLength(40))
)

interface Change {
  readonly after: number
  readonly key: string
}

interface Run {
  readonly key: string
  readonly at: number
}

/** Plays changes to a queue whose keys are reconciled as soon as they are due, in no time. */
const play = (script: ReadonlyArray<Change>) => {
  let now = 0
  const due = new Map<string, number>()
  const add = (key: string, at: number) => due.set(key, Math.min(due.get(key) ?? Infinity, at))
  const queue = {
    addUnsafe: (key: string) => void add(key, now),
    addWithUnsafe: (key: string, { after }: { readonly after: number }) => void add(key, now + after),
    addAllUnsafe: (keys: Iterable<string>) => {
      for (const key of keys) add(key, now)
    }
  } as unknown as KeyedQueue
  const spaced = Loop.minInterval(queue, spacing, () => now)
  const runs: Array<Run> = []
  const workUntil = (end: number): void => {
    for (;;) {
      const next = [...due].filter(([, at]) => at <= end).sort((a, b) => a[1] - b[1])[0]
      if (next === undefined) break
      now = Math.max(now, next[1])
      due.delete(next[0])
      spaced.began(next[0])
      runs.push({ key: next[0], at: now })
    }
    now = end
  }
  const asked: Array<Run & { readonly isIdle: boolean }> = []
  for (const { after, key } of script) {
    workUntil(now + after)
    asked.push({ key, at: now, isIdle: !runs.some((run) => run.key === key && run.at + spacing > now) })
    spaced.sourceQueue.addAllUnsafe([key], 0)
  }
  workUntil(now + 2 * spacing)
  return { asked, runs }
}

describe("Spacing", () => {
  checkProperty("two runs of a key start at least the interval apart", changes, (script) => {
    const { runs } = play(script)
    return runs.every(({ at, key }, index) =>
      runs.slice(index + 1).every((later) => later.key !== key || later.at - at >= spacing)
    )
  })

  checkProperty("a change of a key that has not run within the interval starts a run at once", changes, (script) => {
    const { asked, runs } = play(script)
    return asked.every(({ at, isIdle, key }) => !isIdle || runs.some((run) => run.key === key && run.at === at))
  })

  checkProperty("every change is followed by a run that starts within the interval", changes, (script) => {
    const { asked, runs } = play(script)
    return asked.every(({ at, key }) => runs.some((run) => run.key === key && run.at >= at && run.at - at <= spacing))
  })
})
