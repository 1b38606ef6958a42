/** The spacing of runs, asked of random changes: what it holds back, what it lets through, and what it remembers. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Spacing from "../../../src/layers/controller/spacing.ts"
import type { KeyedQueue } from "../../../src/streams/KeyedQueue.ts"
import { law, prove } from "../../support/laws.ts"

const spacing = 100

/** Changes: so long after the one before, of this key. */
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

/** Plays changes to a queue that hands every key out when it is due, to workers that take no time. */
const play = (module: typeof Spacing, script: ReadonlyArray<Change>) => {
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
  const spaced = module.make(queue, spacing, () => now)
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
    spaced.inlet.addAllUnsafe([key], 0)
  }
  workUntil(now + 2 * spacing)
  return { asked, runs }
}

prove<typeof Spacing>({
  path: "layers/controller/spacing.ts",
  module: Spacing,
  laws: [
    law("two runs of a key begin at least the spacing apart", changes, (module, script) => {
      const { runs } = play(module, script)
      return runs.every(({ at, key }, index) =>
        runs.slice(index + 1).every((later) => later.key !== key || later.at - at >= spacing)
      )
    }),
    law("a change of a key that has not run lately is answered at once", changes, (module, script) => {
      const { asked, runs } = play(module, script)
      return asked.every(({ at, isIdle, key }) => !isIdle || runs.some((run) => run.key === key && run.at === at))
    }),
    law("every change is answered by a run that begins within the spacing", changes, (module, script) => {
      const { asked, runs } = play(module, script)
      return asked.every(({ at, key }) => runs.some((run) => run.key === key && run.at >= at && run.at - at <= spacing))
    })
  ],
  mutants: [
    {
      title: "a change in the meantime is lost",
      find: "if (after > 0) queue.addWithUnsafe(key, { priority, after })",
      replace: "if (after > 0) continue"
    },
    { title: "a change in the meantime runs at once", find: "if (after > 0)", replace: "if (after < 0)" },
    { title: "the whole spacing is waited for from the change on", find: "start + millis - at", replace: "millis" },
    {
      title: "the first change waits too",
      find: "start === undefined ? 0 :",
      replace: "start === undefined ? millis :"
    },
    { title: "a run is not noted", find: "starts.set(key, at)", replace: "starts.has(key)" },
    {
      title: "the latest run is forgotten",
      find: "if (start + millis > at) break",
      replace: "if (start + millis < at) break"
    }
  ]
})
